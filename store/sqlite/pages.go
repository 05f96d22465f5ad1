package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/graphkernel/graphkernel/store/packed"
)

// VFS is the name of SQLite's file layer with checksums, for a program that opens the file of a store as a
// database of its own: "file:PATH?vfs=" + VFS. Without this layer the program can read the file, but the
// store refuses every page that the program writes. The name can be used only after RegisterVFS has returned.
const VFS = "graphkernel"

const (
	// checksumSize is the number of bytes that each page of the file keeps free at its end.
	checksumSize = 8

	// A file's header (https://www.sqlite.org/fileformat2.html, section 1.3).
	headerSize        = 100
	headerReserved    = 20
	headerVersion     = 60
	headerApplication = 68

	smallestPage = 512

	magic = "SQLite format 3\x00"
)

// checksum returns the checksum of a page, which belongs in its last 8 bytes. It is computed like that of
// SQLite's own checksum layer (https://www.sqlite.org/cksumvfs.html): two sums over words of 32 bits, each of
// which continues from the other. Both steps can be undone, so a change within one word always changes the sums.
func checksum(page []byte) uint64 {
	var a, b uint32
	for p := page[:len(page)-checksumSize]; len(p) >= 8; p = p[8:] {
		a += binary.LittleEndian.Uint32(p) + b
		b += binary.LittleEndian.Uint32(p[4:]) + a
	}
	return uint64(b)<<32 | uint64(a)
}

func isPage(size int32) bool { return size >= smallestPage && size&(size-1) == 0 }

// RegisterVFS registers the layer with SQLite, once.
var RegisterVFS = sync.OnceValue(registerVFS)

// layer is the state of the functions below: SQLite passes them no state of their own.
var layer struct {
	base  sqlite3.Tsqlite3_vfs // the system's own layer
	mu    sync.Mutex
	files map[uintptr]uintptr // from the methods of the base to the layer's methods that replace them
}

// methods are the methods of an open file, and the methods that they replace.
type methods struct {
	sqlite3.Tsqlite3_io_methods
	base    sqlite3.Tsqlite3_io_methods
	checked uintptr // the methods of a file with checksums; 0: these methods are
}

// registerVFS registers a copy of the system's layer with an open function of
// its own. An open file is the system's, with other methods to read and write.
func registerVFS() error {
	tls := libc.NewTLS()
	defer tls.Close()
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(VFS)
	if base == 0 || err != nil {
		return errors.Join(errors.New("sqlite: the file layer of the system is missing"), err)
	}
	layer.base = *at[sqlite3.Tsqlite3_vfs](base)
	layer.files = map[uintptr]uintptr{}
	vfs := layer.base
	vfs.FpNext, vfs.FzName, vfs.FxOpen = 0, name, pointer(openFile)
	p := libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(vfs)))
	if p == 0 {
		return errors.New("sqlite: no memory for the file layer")
	}
	*at[sqlite3.Tsqlite3_vfs](p) = vfs
	if rc := sqlite3.Xsqlite3_vfs_register(tls, p, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("sqlite: the file layer cannot be registered (%d)", rc)
	}
	return nil
}

// at returns the value at an address outside of Go's memory.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// bytesAt returns n bytes at an address outside of Go's memory.
func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

// pointer returns a function of Go in the form that SQLite's code stores: the address
// of its descriptor. The descriptor of a function without a closure does not move.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the inverse of pointer.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

type (
	openFunc   func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	accessFunc func(tls *libc.TLS, file, buffer uintptr, n int32, offset int64) int32
)

// openFile opens a file, and gives a main database the methods of the layer.
func openFile(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := function[openFunc](layer.base.FxOpen)(tls, vfs, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return rc
	}
	f := at[sqlite3.Tsqlite3_file](file)
	own, rc := methodsOver(tls, f.FpMethods)
	if rc != sqlite3.SQLITE_OK {
		function[func(*libc.TLS, uintptr) int32](at[sqlite3.Tsqlite3_io_methods](f.FpMethods).FxClose)(tls, file)
		own = 0
	}
	f.FpMethods = own
	return rc
}

// methodsOver returns the layer's methods over those of the base, for a file that may not be a store. There are few, and they are never freed.
func methodsOver(tls *libc.TLS, base uintptr) (uintptr, int32) {
	layer.mu.Lock()
	defer layer.mu.Unlock()
	if p, ok := layer.files[base]; ok {
		return p, sqlite3.SQLITE_OK
	}
	size := types.Size_t(unsafe.Sizeof(methods{}))
	unknown, checked := libc.Xcalloc(tls, 1, size), libc.Xcalloc(tls, 1, size)
	if unknown == 0 || checked == 0 {
		return 0, sqlite3.SQLITE_NOMEM
	}
	m := methods{Tsqlite3_io_methods: *at[sqlite3.Tsqlite3_io_methods](base), base: *at[sqlite3.Tsqlite3_io_methods](base)}
	m.FiVersion = min(m.FiVersion, 2) // without mapping the file into memory, which would bypass the checksums
	m.FxDeviceCharacteristics = pointer(deviceCharacteristics)
	m.FxRead, m.FxWrite = pointer(readChecked), pointer(writeChecked)
	*at[methods](checked) = m
	m.FxRead, m.FxWrite, m.checked = pointer(readUnknown), pointer(writeUnknown), checked
	*at[methods](unknown) = m
	layer.files[base] = unknown
	return unknown, sqlite3.SQLITE_OK
}

func of(file uintptr) *methods { return at[methods](at[sqlite3.Tsqlite3_file](file).FpMethods) }

// deviceCharacteristics returns those of the base, but SQLite must read pages
// whole: otherwise it reads long values past its cache, without the end of a page.
func deviceCharacteristics(tls *libc.TLS, file uintptr) int32 {
	return function[func(*libc.TLS, uintptr) int32](of(file).base.FxDeviceCharacteristics)(tls, file) &^ sqlite3.SQLITE_IOCAP_SUBPAGE_READ
}

// readChecked reads, and compares the checksum of a page that it read whole.
func readChecked(tls *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	rc := function[accessFunc](of(file).base.FxRead)(tls, file, buffer, n, offset)
	if rc != sqlite3.SQLITE_OK || !isPage(n) {
		return rc
	}
	page := bytesAt(buffer, n)
	if offset == 0 && string(page[:len(magic)]) != magic {
		return rc // not a database; SQLite reports that itself
	}
	if checksum(page) != binary.LittleEndian.Uint64(page[n-checksumSize:]) {
		return sqlite3.SQLITE_IOERR_DATA
	}
	return rc
}

// writeChecked writes a page with its checksum. SQLite does not use the bytes of the checksum.
func writeChecked(tls *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	if isPage(n) {
		page := bytesAt(buffer, n)
		binary.LittleEndian.PutUint64(page[n-checksumSize:], checksum(page))
	}
	return function[accessFunc](of(file).base.FxWrite)(tls, file, buffer, n, offset)
}

// readUnknown is readChecked if the file is a store by now, else the read of the base.
func readUnknown(tls *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	if isPage(n) && isStore(tls, file) {
		at[sqlite3.Tsqlite3_file](file).FpMethods = of(file).checked
		return readChecked(tls, file, buffer, n, offset)
	}
	return function[accessFunc](of(file).base.FxRead)(tls, file, buffer, n, offset)
}

// writeUnknown is writeChecked if the file is a store by now, or becomes one with this first page, else the write of the base.
func writeUnknown(tls *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	if isPage(n) && (offset == 0 && isStoreHeader(bytesAt(buffer, headerSize)) || offset > 0 && isStore(tls, file)) {
		at[sqlite3.Tsqlite3_file](file).FpMethods = of(file).checked
		return writeChecked(tls, file, buffer, n, offset)
	}
	return function[accessFunc](of(file).base.FxWrite)(tls, file, buffer, n, offset)
}

// isStore reports whether the header of a file is that of a store.
func isStore(tls *libc.TLS, file uintptr) bool {
	memory := libc.Xcalloc(tls, 1, headerSize)
	if memory == 0 {
		return false
	}
	defer libc.Xfree(tls, memory)
	rc := function[accessFunc](of(file).base.FxRead)(tls, file, memory, headerSize, 0)
	return rc == sqlite3.SQLITE_OK && isStoreHeader(bytesAt(memory, headerSize))
}

// isStoreHeader reports whether a header is that of a store whose pages have checksums.
// Only stores with old schemas, which are refused, may have no room for them.
func isStoreHeader(header []byte) bool {
	ours := binary.BigEndian.Uint32(header[headerApplication:]) == applicationID
	return ours && (binary.BigEndian.Uint32(header[headerVersion:]) >= packed.Oldest || header[headerReserved] != 0)
}

// A bare is a connection without the driver, which cannot ask for room in the pages.
type bare struct {
	tls     *libc.TLS
	db      uintptr
	strings []uintptr
}

// openBare opens the database at path in a layer, "" for the system's. From then on, files that are written anew have room
// for checksums: a new file, and the file that VACUUM INTO writes. The connection must be closed even if there is an error.
func openBare(path, vfs string, busy time.Duration) (*bare, error) {
	c := &bare{tls: libc.NewTLS()}
	memory := libc.Xcalloc(c.tls, 2, 8)
	c.strings = append(c.strings, memory)
	name, err := c.text(path)
	if err != nil || memory == 0 {
		return c, errors.Join(err, errMemory)
	}
	layer := uintptr(0)
	if vfs != "" {
		if layer, err = c.text(vfs); err != nil {
			return c, err
		}
	}
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, memory, sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_URI, layer)
	c.db = *at[uintptr](memory)
	if err := c.failed(rc); err != nil {
		return c, err
	}
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(busy.Milliseconds()))
	*at[int32](memory + 8) = checksumSize
	return c, c.failed(sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_RESERVE_BYTES, memory+8))
}

var errMemory = errors.New("no memory")

// text returns a string in the form of C, which is valid until the connection is closed.
func (c *bare) text(s string) (uintptr, error) {
	p, err := libc.CString(s)
	c.strings = append(c.strings, p)
	return p, err
}

func (c *bare) exec(statements ...string) error {
	for _, statement := range statements {
		text, err := c.text(statement)
		if err == nil {
			err = c.failed(sqlite3.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *bare) failed(rc int32) error {
	if rc == sqlite3.SQLITE_OK {
		return nil
	}
	if c.db != 0 {
		rc = sqlite3.Xsqlite3_extended_errcode(c.tls, c.db)
	}
	return resultError{int(rc), libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, rc))}
}

// A resultError is an error of a bare connection, like the driver's Error for its connections.
type resultError struct {
	code int
	text string
}

func (e resultError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }
func (e resultError) Code() int     { return e.code }

func (c *bare) close() {
	if c.db != 0 {
		sqlite3.Xsqlite3_close(c.tls, c.db)
	}
	for _, s := range c.strings {
		libc.Xfree(c.tls, s)
	}
	c.tls.Close()
}

// createFile turns the empty file at path into a database with checksums and without tables.
func createFile(path string) error {
	if err := RegisterVFS(); err != nil {
		return err
	}
	c, err := openBare(path, VFS, 0)
	defer c.close()
	if err == nil {
		err = c.exec(fmt.Sprintf(`PRAGMA application_id = %d`, applicationID), `PRAGMA journal_mode = WAL`)
	}
	return err
}
