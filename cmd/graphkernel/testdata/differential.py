"""Answers calls of gkverify.py, a line of JSON each: {"args":[…],"env":{…}} → {"code":…,"out":…}."""
import contextlib, functools, io, json, sys, traceback
sys.path.insert(0, sys.argv[1])
import gkverify

# Mutants share most of their signatures, and the arithmetic of these is most of the time.
gkverify.ed25519 = functools.lru_cache(100000)(gkverify.ed25519)
gkverify.refused_key = functools.lru_cache(100000)(gkverify.refused_key)

for line in sys.stdin:
    call, out = json.loads(line), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = gkverify.run(call["args"], call["env"])
        except BaseException:  # a verifier that falls over has given no verdict
            code = -1
            traceback.print_exc()
    print(json.dumps({"code": code, "out": out.getvalue()}), flush=True)
