package runlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of TensorFlow's Event, Summary and SessionLog messages
// (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).
const (
	eventWallTime, eventStep, eventVersion, eventSummary, eventSession = 1, 2, 3, 5, 7

	summaryValue, valueTag, valueSimple = 1, 1, 2

	sessionStatus, sessionStart = 1, 1
)

// eventFile is one TensorBoard event file.
type eventFile struct{ file *os.File }

// createEvents begins an event file in dir for the steps after last. A file is
// never appended to by a second process; its first events tell TensorBoard to
// forget what older files say of later steps.
func createEvents(dir string, last int, now time.Time) (*eventFile, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	// Readers take the files in the order of their names: the time comes first,
	// fine enough for a run that is killed and started again within a second.
	name := fmt.Sprintf("events.out.tfevents.%d.%09d.%s.%d", now.Unix(), now.Nanosecond(), host, os.Getpid())
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	f := &eventFile{file}
	version := appendBytes(eventHead(now, 0), eventVersion, []byte("brain.Event:2"))
	session := protowire.AppendVarint(protowire.AppendTag(nil, sessionStatus, protowire.VarintType), sessionStart)
	start := appendBytes(eventHead(now, last+1), eventSession, session)
	if err := errors.Join(f.write(version), f.write(start)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// add writes a step's metrics as scalars.
func (f *eventFile) add(step int, metrics []Metric, now time.Time) error {
	var summary []byte
	for _, m := range metrics {
		value := appendBytes(nil, valueTag, []byte(m.Key))
		value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(m.Value)))
		summary = appendBytes(summary, summaryValue, value)
	}
	return f.write(appendBytes(eventHead(now, step), eventSummary, summary))
}

// eventHead is an Event with its time and step.
func eventHead(now time.Time, step int) []byte {
	seconds := float64(now.UnixNano()) / 1e9
	b := protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(seconds))
	b = protowire.AppendTag(b, eventStep, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(step))
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

// write frames an event as TFRecord does: length, its checksum, the bytes,
// their checksum.
func (f *eventFile) write(event []byte) error {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	record := binary.LittleEndian.AppendUint32(length, maskedCRC(length))
	record = append(record, event...)
	record = binary.LittleEndian.AppendUint32(record, maskedCRC(event))
	if _, err := f.file.Write(record); err != nil {
		return fmt.Errorf("tensorboard: %w", err)
	}
	return nil
}

// maskedCRC is CRC-32C, turned and shifted so that the checksum of data that
// holds checksums stays sound.
func maskedCRC(data []byte) uint32 {
	crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}
