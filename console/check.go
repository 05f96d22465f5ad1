package console

import (
	"io"
	"net/http"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
	"github.com/graphkernel/graphkernel/slice"
)

// checkPath is the path to which a bundle is sent for checking. Only its form has a file.
const checkPath = "/check"

// mostFile is the maximum size of that form in bytes, the same as for a request of the service.
const mostFile = 64 << 20

type checkData struct {
	Verdict  *api.BundleVerdict
	Wrong    string
	Issued   []api.Issued // records of these bytes
	Others   []api.Issued // records with the same id, of other bytes
	NoRecord *missing     // why there is no record
}

func (d *checkData) body(token string) h.Node {
	list := h.Group{h.H1(h.Text("Is a bundle genuine?")), wrong(d.Wrong)}
	another := "Check one"
	if v := d.Verdict; v != nil {
		another = "Check another"
		list = append(list, verdict(v, h.Role("status")), ofAnother(v), terms("facts", h.If(v.SliceID != "", term("Id", code(v.SliceID))), term("Digest", code(v.BundleSHA256))))
	}
	switch {
	case d.NoRecord != nil:
		list = append(list, h.P(h.Text("It is not on record here: "), bdi(d.NoRecord.Why)))
	case len(d.Issued) > 0:
		list = append(list, h.H2(h.Text("These bytes are on record")), issuedTable("Records of these bytes", d.Issued))
	case len(d.Others) > 0:
		list = append(list, h.H2(h.Text("Other bytes are on record under this id")), issuedTable("Records of other bytes under the id", d.Others))
	}
	return append(list, h.H2(h.Text(another)), fileForm(token))
}

// ofAnother returns a note for a bundle whose only failed check is that of the token: another kernel may have signed it. It is nil for other verdicts.
func ofAnother(v *api.BundleVerdict) h.Node {
	failed := slices.DeleteFunc(slices.Clone(v.Checks), func(c api.Check) bool { return c.Status != slice.StatusFail })
	if len(failed) != 1 || failed[0].ID != slice.CheckToken || v.Outcome == "key_retired" {
		return nil
	}
	return h.P(h.Text("Everything but the token holds. It may be evidence of another kernel, whose keys this service does not have: ask its operator for the trust file, by another way than the bundle, and run "), code("graphkernel verify --trust FILE FOLDER"), h.Text("."))
}

// checkForm shows the empty form.
func checkForm(*visit) (*page, error) {
	return &page{title: "Is a bundle genuine?", content: &checkData{}}, nil
}

// checkBundle asks the service to verify an uploaded bundle, and shows whether it is on record.
func checkBundle(v *visit) (*page, error) {
	d := &checkData{}
	answer := &page{title: "Is a bundle genuine?", content: d}
	file, _, err := v.r.FormFile("bundle")
	if err != nil {
		d.Wrong = "Choose a file first: the bundle, such as bundle.json."
		return answer, nil
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "this file cannot be read: %v", err)
	}
	if len(data) == 0 {
		d.Wrong = "This file is empty."
		return answer, nil
	}
	verdict, err := ask(v, api.VerifyBundle, api.TheBundle{Bundle: data})
	if err != nil {
		return nil, err
	}
	d.Verdict = &verdict
	if verdict.SliceID == "" {
		return answer, nil
	}
	record, err := ask(v, api.GetSlice, api.SliceByID{SliceID: slice.SliceID(verdict.SliceID)})
	if d.NoRecord, err = optional(err); err != nil || d.NoRecord != nil {
		return answer, err
	}
	for _, i := range record.Issued {
		if i.BundleSHA256 == verdict.BundleSHA256 {
			d.Issued = append(d.Issued, i)
		} else {
			d.Others = append(d.Others, i)
		}
	}
	slices.Reverse(d.Issued) // the newest first
	slices.Reverse(d.Others)
	return answer, nil
}
