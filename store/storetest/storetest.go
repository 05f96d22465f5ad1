// Package storetest is the contract of package store as a test suite, which
// every back end runs:
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness { … })
//	}
//
// and RunLarge in another test: its cases are long and use one goroutine, so there is nothing for the race detector to find in them.
//
// The suite has four parts. The cases go through the contract sentence by sentence. The fault table makes every step of every write fail,
// before and after the commit, and opens the store again each time. The model compares thousands of random operations with a few maps. And
// [Check] recomputes everything that can be derived from stored data, and runs after everything else; other programs may call it on any store.
//
// The suite itself is tested on stores that each return one kind of wrong answer: it must notice all of them.
package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/store"
)

// A Harness represents data that outlives a store, such as a file's path.
type Harness struct {
	// Open opens a store on the data: on new data the first time, and from then on with everything that earlier stores
	// committed. step is the back end's option of that name, and may be nil. The suite closes the stores that it opens.
	Open func(step func(string) error) (store.Store, error)

	// Heals says that the store continues after a write with an unknown outcome: the error of a fault
	// after the commit wraps store.ErrUncertain and not store.ErrBroken, and later calls succeed.
	Heals bool
}

// Run runs the suite. fresh returns a Harness with new data each time.
func Run(t *testing.T, fresh func(t *testing.T) Harness) { RunWrites(t, Writes(), fresh) }

// RunWrites is like Run, with faults and cancellations only in the given writes. It is for a second
// form of a back end that passes Run: writes that do the same in both forms can be left out.
func RunWrites(t *testing.T, writes []Write, fresh func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"Append", testAppend},
		{"AppendAgain", testAppendAgain},
		{"AppendConflict", testConflict},
		{"AppendParent", testParent},
		{"AppendCycle", testCycle},
		{"AppendBatches", testBatches},
		{"AppendMalformed", testMalformed},
		{"AppendUnless", testUnless},
		{"DrawnSalt", testDrawnSalt},
		{"Withheld", testWithheld},
		{"Brought", testBrought},
		{"Marks", testMarks},
		{"Order", testOrder},
		{"Concurrent", testConcurrent},
		{"Adopt", testAdopt},
		{"AdoptRefused", testAdoptRefused},
		{"AdoptLong", testAdoptLong},
		{"Parts", testParts},
		{"TenantList", testTenantList},
		{"HeadWhile", testHeadWhile},
		{"Turns", testTurns},
		{"Placed", testPlaced},
		{"Segment", testSegment},
		{"Scan", testScan},
		{"Match", testMatch},
		{"External", testExternal},
		{"ExternalPrefix", testExternalPrefix},
		{"Conversations", testConversations},
		{"Erase", testErase},
		{"Events", testEvents},
		{"History", testHistory},
		{"HistoryArguments", testHistoryArguments},
		{"Acts", testActs},
		{"Knowledge", testKnowledge},
		{"ActsConcurrent", testActsConcurrent},
		{"AdoptActs", testAdoptActs},
		{"Policies", testPolicies},
		{"Issued", testIssued},
		{"IssuedLists", testIssuedLists},
		{"Ledger", testLedger},
		{"LedgerLeaves", testLeaves},
		{"LedgerConcurrent", testLedgerConcurrent},
		{"Cells", testCells},
		{"CellsConcurrent", testCellsConcurrent},
		{"Snapshots", testSnapshots},
		{"Keys", testKeys},
		{"KeysConcurrent", testKeysConcurrent},
		{"Tasks", testTasks},
		{"Tenants", testTenants},
		{"Reopen", testReopen},
		{"Arguments", testArguments},
		{"Closed", testClosed},
		{"Cancelled", testCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, fresh(t)) })
	}
	t.Run("Faults", func(t *testing.T) { testFaults(t, writes, fresh) })
	t.Run("CancelledSteps", func(t *testing.T) { testCancelledSteps(t, writes, fresh) })
	t.Run("Model", func(t *testing.T) { testModel(t, fresh) })
}

// RunLarge runs the cases with large texts, large acts and a large ledger.
func RunLarge(t *testing.T, fresh func(t *testing.T) Harness) {
	t.Run("Content", func(t *testing.T) { testContent(t, fresh(t)) })
	t.Run("LongActs", func(t *testing.T) { testLongActs(t, fresh(t)) })
	t.Run("LedgerTree", func(t *testing.T) { testLedgerTree(t, fresh(t)) })
}

// open opens a store that is checked and closed at the end of the test.
func open(t *testing.T, h Harness) store.Store {
	t.Helper()
	s, err := h.Open(nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := Check(context.Background(), s, Tenant); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("Check at the end: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
