package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// addChatContent adds the content of a message. Every type has its text in another member; an unknown type is added as a whole,
// as compact JSON.
func addChatContent(c *content, v *canon.Value) {
	if v == nil || v.Kind != canon.Object {
		return
	}
	kind := text(v, "content_type")
	switch kind {
	case "text", "multimodal_text":
		addChatParts(c, v.Get("parts"))
	case "code":
		addTitled(c, "code", strings.TrimSpace("code "+language(v)), textOrParts(c, v))
	case "execution_output":
		if said := textOrParts(c, v); said != "" {
			c.result(said, false)
		}
	case "tether_browsing_display":
		addTitled(c, kind, "browsing", text(v, "result"))
	case "tether_quote":
		title := "quote"
		for _, key := range [...]string{"title", "url"} {
			if s := text(v, key); s != "" {
				title += " " + s
			}
		}
		addTitled(c, kind, oneLine(title), text(v, "text"))
	case "system_error":
		c.result(strings.TrimSpace(text(v, "name")+": "+text(v, "text")), true)
	case "thoughts":
		addThoughts(c, v.Get("thoughts"))
	case "reasoning_recap":
		addTitled(c, "thinking", "thinking", text(v, "content"))
	case "user_editable_context":
		addTitled(c, kind, "user profile", text(v, "user_profile"))
		addTitled(c, kind, "user instructions", text(v, "user_instructions"))
	case "model_editable_context":
		addTitled(c, kind, "memory", text(v, "model_set_context"))
	default:
		switch parts, said := v.Get("parts"), text(v, "text"); {
		case parts != nil && parts.Kind == canon.Array:
			addChatParts(c, parts)
		case said != "":
			addTitled(c, kind, oneLine(kind), said)
		default:
			c.other(kind, v)
		}
	}
	if len(c.kinds) == 0 && (kind == "thoughts" || kind == "reasoning_recap") {
		addTitled(c, "thinking", "thinking", textOrParts(c, v))
	} else if len(c.kinds) == 0 {
		addTitled(c, kind, oneLine(kind), textOrParts(c, v))
	}
}

// addTitled adds a block unless its text is empty.
func addTitled(c *content, kind, title, said string) {
	if said != "" {
		c.titled(kind, title, said)
	}
}

// textOrParts returns the text of a content, or its parts if it has no text: some exports use parts for types for which others
// use text.
func textOrParts(c *content, v *canon.Value) string {
	if said := text(v, "text"); said != "" {
		return said
	}
	var parts content
	addChatParts(&parts, v.Get("parts"))
	for what, n := range parts.lost {
		for range n {
			c.lost.add(what)
		}
	}
	return parts.text.String()
}

// language returns the language of code, or "" if it is "unknown", which is ChatGPT's usual value.
func language(v *canon.Value) string {
	if s := text(v, "language"); s != "unknown" {
		return oneLine(s)
	}
	return ""
}

func addChatParts(c *content, parts *canon.Value) {
	if parts == nil {
		return
	}
	for i := range parts.Items {
		p := &parts.Items[i]
		switch kind := text(p, "content_type"); {
		case p.Kind == canon.Null:
		case p.Kind == canon.String:
			if p.Text != "" {
				c.plain(p.Text)
			}
		case kind == "image_asset_pointer" || kind == "audio_asset_pointer" || kind == "video_container_asset_pointer":
			addAsset(c, kind, p)
		case kind == "real_time_user_audio_video_asset_pointer":
			addLive(c, p)
		case kind == "audio_transcription": // speech, in place of typed text
			if said := text(p, "text"); said != "" {
				c.begin(kind)
				c.text.WriteString(said)
			}
		case text(p, "text") != "":
			c.plain(text(p, "text"))
		default:
			c.other(kind, p)
		}
	}
}

func addAsset(c *content, kind string, p *canon.Value) {
	c.lost.add(assetNote(kind))
	c.line(strings.TrimSuffix(kind, "_asset_pointer"), assetLine(kind, p))
}

// addLive adds the pointers to a person's audio and video in a live conversation:
//
//	{"content_type":"real_time_user_audio_video_asset_pointer","audio_asset_pointer":{…},"video_container_asset_pointer":null,
//	 "frames_asset_pointers":[],"audio_start_timestamp":438.8}
//
// An audio_transcription next to it has the words.
func addLive(c *content, p *canon.Value) {
	before := c.text.Len()
	for _, kind := range [...]string{"audio_asset_pointer", "video_container_asset_pointer"} {
		if v := object(p, kind); v != nil {
			addAsset(c, kind, v)
		}
	}
	if frames := p.Get("frames_asset_pointers"); frames != nil {
		for i := range frames.Items {
			if v := &frames.Items[i]; v.Kind == canon.Object {
				addAsset(c, "image_asset_pointer", v)
			}
		}
	}
	if c.text.Len() == before { // no pointer, but somebody spoke
		c.lost.add("audio_data")
		c.line("audio", "audio")
	}
}

// assetNote returns the note for the lost data of an asset, which is in a separate file.
func assetNote(kind string) string {
	if strings.HasPrefix(kind, "image") {
		return noteImageData
	}
	return "audio_data"
}

func assetLine(kind string, p *canon.Value) string {
	line := strings.TrimSuffix(kind, "_asset_pointer") + " " + text(p, "asset_pointer")
	if size := scalar(p, "size_bytes"); size != "" {
		line += ", " + size + " bytes"
	}
	return line
}

func addThoughts(c *content, list *canon.Value) {
	if list == nil {
		return
	}
	for i := range list.Items {
		t := &list.Items[i]
		said := text(t, "content")
		if summary := text(t, "summary"); summary != "" && said != "" {
			said = summary + "\n" + said
		} else if said == "" {
			said = summary
		}
		addTitled(c, "thinking", "thinking", said)
	}
}

// addAttachments adds a line for each file attached to a message.
func addAttachments(c *content, metadata *canon.Value) {
	if metadata == nil {
		return
	}
	list := metadata.Get("attachments")
	if list == nil {
		return
	}
	for i := range list.Items {
		a := &list.Items[i]
		mediaType := text(a, "mime_type")
		if mediaType == "" {
			mediaType = text(a, "mimeType")
		}
		line := strings.Join(strings.Fields("attachment "+text(a, "name")+" "+mediaType), " ")
		if size := scalar(a, "size"); size != "" {
			line += ", " + size + " bytes"
		}
		c.lost.add(noteAttachmentData)
		c.line("attachment", line)
	}
}
