"""Calls a service at GRAPHKERNEL_URL with the key GRAPHKERNEL_KEY; api/clients starts one."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from graphkernel import AnswerError, Client, Problem

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "verifiers", "python"))
import gkverify  # noqa: E402

QUESTION, ANSWER, TALK = (f"0b5e0000-0000-4000-8000-00000000b10{n}" for n in range(3))


def turns() -> dict:
    return {
        "turns": [
            {"id": QUESTION, "conversation": TALK, "role": "user", "author": "human:guest", "created_at": "2026-01-02T03:04:05Z", "content": "May I deploy — now?"},
            {
                "id": ANSWER, "conversation": TALK, "role": "assistant", "author": "model:m", "created_at": "2026-01-02T03:04:06Z",
                "content": "Not before the tests pass.", "parents": [{"id": QUESTION, "kind": "reply"}],
            },
        ]
    }


class Service(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
        self.client.admit_turns(turns())

    def test_turns(self) -> None:
        self.assertEqual(self.client.admit_turns(turns())["existing"], 2)
        lines = "".join(json.dumps(t) + "\n" for t in turns()["turns"]).encode()
        self.assertEqual(self.client.admit_turns_lines(lines)["existing"], 2)
        self.assertEqual(self.client.get_turn(ANSWER)["turn"]["content"], "Not before the tests pass.")
        self.assertEqual(self.client.resolve_turn(name=ANSWER)["id"], ANSWER)
        self.assertEqual([t["turn"]["id"] for t in self.client.get_conversation_all(TALK)], [QUESTION, ANSWER])
        self.assertEqual([t["turn"]["id"] for t in self.client.list_turns_all(conversation=TALK, role="assistant")], [ANSWER])

    def test_slice(self) -> None:
        bundle = self.client.cut_slice({"anchor": ANSWER})
        self.assertTrue(self.client.verify_bundle(bundle)["admissible"])
        self.assertFalse(self.client.verify_bundle(bundle.replace(b"Not before", b"Not after!"))["admissible"])
        self.assertEqual(self.client.attest_bundle(bundle)["bundle_sha256"], hashlib.sha256(bundle).hexdigest())
        slice_id = json.loads(bundle)["provenance"]["slice_id"]
        self.assertEqual(self.client.replay_slice(slice_id)["outcome"], "identical")
        self.assertEqual(self.client.replay_slice(slice_id, bundle)["outcome"], "identical")
        self.assertIn(slice_id, [s["slice_id"] for s in self.client.list_slices_all()])

    def test_context(self) -> None:
        talk = self.client.conversation()
        first = talk.add("user", "The lantern of the lighthouse broke. What now?", author="human:keeper")
        talk.add("assistant", "The spare lantern is in the shed.", author="model:m")
        context = self.client.context("where is the spare lantern", anchor=talk.last, budget=200)
        self.assertEqual({m["role"] for m in context.messages}, {"user"})
        self.assertIn("in the shed", context.messages[-1]["content"])
        self.assertIn(first, context.answer["turns"])
        self.assertEqual(context.missing, [])
        bundle = context.evidence()
        self.assertEqual(hashlib.sha256(bundle).hexdigest(), context.answer["bundle_sha256"])
        self.assertTrue(self.client.verify_bundle(bundle)["admissible"])
        for format in ("markdown", "xml", "text"):
            self.assertIn("in the shed", self.client.context("the spare lantern", format=format).text)
        rules = {"policy_id": "ruled@1", "policy": {"type": "context_policy_v1", "rules": "Never leave the lighthouse.", "budget": 300}}
        self.client.register_policy(rules)
        asked = self.client.context("the spare lantern", format="anthropic", policy="ruled@1").request({"role": "user", "content": "Go on."})
        self.assertEqual((asked["system"], asked["messages"][-1]["content"]), ("Never leave the lighthouse.", "Go on."))
        with self.assertRaises(ValueError):
            _ = context.text
        self.client.erase_turn(first, {"reason": "asked to"})
        with self.assertRaises(AnswerError):
            context.evidence()

    def test_verifier(self) -> None:
        """What the service hands out convinces the verifier that has no part in it."""
        bundle = self.client.cut_slice({"anchor": ANSWER})
        evidence = self.client.attest_bundle(bundle)
        with tempfile.TemporaryDirectory() as folder:
            for name, data in {
                "bundle.json": bundle,
                "attestation.json": json.dumps(evidence["attestation"], separators=(",", ":"), sort_keys=True).encode(),
                "slice.tlog-proof": evidence["proof"].encode(),
            }.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(gkverify.main(["--trust", os.environ["GRAPHKERNEL_TRUST"], folder], {}), 0)

    def test_facts(self) -> None:
        for n in range(5):
            self.client.learn_fact({"subject": f"service {n}", "predicate": "is called by", "object": "checkout", "confidence": 0.75})
        found = list(self.client.list_facts_all(object="checkout", min_confidence=0.75))
        self.assertEqual(len(found), 5)
        page = self.client.list_facts(object="checkout", limit=2)
        self.assertEqual((len(page["facts"]), page["total"]), (2, 5))
        self.assertEqual(self.client.list_facts(object="checkout", limit=2, after=page["next"])["total"], 5)
        paths = self.client.find_paths(from_="service 1", to="service 2", predicates=["is called by"])
        self.assertEqual(paths["reached"][0]["hops"], 2)
        self.client.add_aliases({"aliases": [{"alias": "the till/é", "canonical": "checkout"}]})
        self.assertEqual(self.client.remove_alias("the till/é")["result"], "unaliased")
        self.assertEqual(self.client.retract_facts(object="checkout", dry_run=True)["total"], 5)
        self.assertIn(b"flowchart", self.client.draw_knowledge(entity="checkout", format="mermaid"))

    def test_problems(self) -> None:
        with self.assertRaises(Problem) as raised:
            self.client.get_turn("0b5e0000-0000-4000-8000-00000000ffff")
        self.assertEqual((raised.exception.code, raised.exception.status), ("not_found", 404))
        conflict = turns()
        conflict["turns"][0]["content"] = "another text"
        with self.assertRaises(Problem) as raised:
            self.client.admit_turns(conflict)
        self.assertEqual((raised.exception.code, raised.exception.document["turn"]), ("conflict", QUESTION))

    def test_events(self) -> None:
        for event in self.client.stream_events(last_event_id="0"):
            self.assertEqual((event.name, event.id.split("-")[0]), ("turn", "1"))
            break

    def test_health(self) -> None:
        self.assertEqual(self.client.ready()["status"], "ok")
        self.assertIn("graphkernel", self.client.metrics())
        self.assertEqual(self.client.get_caller()["role"], "admin")
        self.assertEqual(len(self.client.get_tile("0/000.p/1")), 32)

    def test_key_hidden(self) -> None:
        self.assertNotIn(os.environ["GRAPHKERNEL_KEY"], repr(self.client) + repr(vars(self.client)) + repr(vars(self.client._transport)))


class Unreliable(unittest.TestCase):
    """A service that answers as it is told."""

    def serve(self, *answers: tuple[int, dict, bytes]) -> tuple[Client, list[str], list[float]]:
        asked: list[str] = []
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                status, headers, body = left.pop(0)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        slept: list[float] = []
        return Client(f"http://127.0.0.1:{server.server_port}", "gk1.k", sleep=slept.append), asked, slept

    BUSY = (503, {"Content-Type": "application/problem+json", "Retry-After": "2"}, b'{"code":"overloaded","detail":"busy"}')
    FINE = (200, {"Content-Type": "application/json"}, b'{"tenant":"default","role":"admin","head":1}')

    def test_retries(self) -> None:
        client, asked, slept = self.serve(self.BUSY, self.FINE)
        self.assertEqual(client.get_caller()["head"], 1)
        self.assertEqual(len(asked), 2)
        self.assertTrue(2 <= slept[0] <= 2.5)

    def test_gives_up(self) -> None:
        client, asked, _ = self.serve(*[self.BUSY] * 5)
        with self.assertRaises(Problem) as raised:
            client.get_caller()
        self.assertEqual((raised.exception.code, len(asked)), ("overloaded", 4))

    def test_once(self) -> None:
        client, asked, _ = self.serve(self.BUSY, self.BUSY)
        with self.assertRaises(Problem):
            client.create_key({"role": "agent"})
        self.assertEqual(len(asked), 1)

    def test_lies(self) -> None:
        client, _, _ = self.serve(
            (302, {"Location": "http://127.0.0.1:1/"}, b""),
            (200, {"Content-Type": "text/html"}, b"<p>"),
            (200, {"Content-Type": "application/json", "ETag": '"' + "0" * 64 + '"'}, b"{}"),
        )
        for ask in (client.get_caller, client.get_caller, lambda: client.cut_slice({"anchor": ANSWER})):
            with self.assertRaises(AnswerError):
                ask()

    def test_refused_urls(self) -> None:
        for url in ("http://kernel.example", "https://u:p@kernel.example", "ftp://kernel.example", "https://kernel.example/?x"):
            with self.assertRaises(ValueError):
                Client(url, "gk1.k")
        client, _, _ = self.serve()
        for name in ("", "..", "."):
            with self.assertRaises(ValueError):
                client.get_turn(name)


if __name__ == "__main__":
    unittest.main()
