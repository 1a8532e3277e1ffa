// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"strconv"
)

const eventPath = root + "/EventService"

func (c *call) getEventService() *reply {
	return c.show(obj{
		"@odata.type": "#EventService.v1_10_3.EventService", "Id": "EventService", "Name": "Event Service", "ServiceEnabled": true,
		"Status": statusOK(), "ServerSentEventUri": eventPath + "/SSE", "EventFormatTypes": []string{"Event"},
		"Subscriptions": link(eventPath + "/Subscriptions"),
	})
}

// streamBuffer is how many events a slow listener may be behind before its stream is ended.
const streamBuffer = 64

// getEventStream answers with server-sent events: one whenever a machine changes, for as long as the
// client listens.
func (c *call) getEventStream() *reply {
	stream := make(chan []byte, streamBuffer)
	b := c.bmc
	b.streams[stream] = struct{}{}
	return &reply{status: http.StatusOK, stream: func(req *http.Request, w http.ResponseWriter) {
		defer func() {
			defer b.rack.enter()()
			delete(b.streams, stream)
		}()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		control := http.NewResponseController(w)
		_, _ = fmt.Fprint(w, ": stream open\n\n")
		for control.Flush() == nil {
			select {
			case event, open := <-stream:
				if !open {
					panic(http.ErrAbortHandler) // fell behind
				}
				_, _ = w.Write(event)
			case <-req.Context().Done():
				return
			case <-b.rack.closing:
				return
			}
		}
	}}
}

// publish tells all streams of the BMC that a machine has changed.
func (b *BMC) publish(m *Machine) {
	if len(b.streams) == 0 {
		return
	}
	b.noticeSeq++
	id := strconv.Itoa(b.noticeSeq)
	doc := obj{
		"@odata.type": "#Event.v1_11_0.Event", "Id": id, "Name": "Event",
		"Events": []obj{{
			"EventId": id, "MemberId": "0", "EventTimestamp": b.time(b.rack.now()), "EventType": "Other",
			"MessageId": "ResourceEvent.1.4.ResourceChanged", "Message": "One or more resource properties have changed.",
			"MessageSeverity": "OK", "OriginOfCondition": link(m.path()),
		}},
	}
	event := fmt.Appendf(nil, "id: %s\ndata: %s\n", id, (&reply{body: doc}).encode())
	for stream := range b.streams {
		select {
		case stream <- append(event, '\n'):
		default:
			delete(b.streams, stream)
			close(stream)
		}
	}
}
