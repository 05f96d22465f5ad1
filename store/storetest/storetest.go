// Package storetest is the contract of package store as a test suite, which
// every back end runs:
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness { … })
//	}
//
// and in a test of its own RunLarge: its cases are long and use one goroutine, so the race detector has nothing to see in them.
//
// The suite has four parts. The cases walk through the contract sentence by
// sentence. The fault table lets every step of every write fail, before and
// after the commit, and opens the store again each time. The model compares
// thousands of random operations with a few maps. And [Check] derives anew all
// that can be derived from what a store says, and is called after everything
// else; other programs may call it on any store.
//
// The suite itself is tried on stores that lie, each in one thing: it must notice all of them.
package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/store"
)

// A Harness stands for data that outlive a store, such as a file's path.
type Harness struct {
	// Open opens a store on the data: new ones the first time, and what earlier
	// stores committed from then on. step is the back end's option of
	// that name, and may be nil. The suite closes what it opens.
	Open func(step func(string) error) (store.Store, error)

	// Heals says that after a write with an unknown outcome the store goes on: the
	// fault after the commit gives store.ErrUncertain and not store.ErrBroken, and
	// later calls succeed.
	Heals bool
}

// Run runs the suite. fresh returns a Harness with new data each time.
func Run(t *testing.T, fresh func(t *testing.T) Harness) { RunWrites(t, Writes(), fresh) }

// RunWrites is Run with faults and cancellations in some of Writes. It is for a second form of
// a back end that passes Run: writes that do the same in both forms are left out.
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
