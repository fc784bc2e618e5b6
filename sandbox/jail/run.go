package jail

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// run runs one job in the lane. clean says that the lane may run another.
func (l *lane) run(ctx context.Context, tier Tier, job *Job) (out Outcome, clean bool, err error) {
	token := newToken()
	ch, err := openChannels(job, token)
	if err != nil {
		return out, true, err
	}
	meter, err := l.measure(&job.Limits)
	if err == nil {
		meter.exec = job.Exec != nil
		err = l.send(tier, job, token, ch)
	}
	err = errors.Join(err, ch.closeTheirs())
	if err != nil {
		return out, false, errors.Join(err, ch.closeOurs())
	}
	ch.listen()
	answers := make(chan answer, 1)
	go func() { answers <- l.receive() }()
	w := watch{lane: l, meter: meter, limits: &job.Limits, ch: ch, answers: answers}
	end := w.wait(ctx)
	if end.stopped() {
		// The lane is not to be used again: killing it whole is the surest way
		// to end everything in it.
		err = l.stop()
		end.answer = <-answers
	}
	err = errors.Join(err, ch.finish())
	out, clean, readErr := l.outcome(ctx, meter, &end, ch, token)
	return out, clean && err == nil, errors.Join(err, readErr)
}

// send starts the job.
func (l *lane) send(tier Tier, job *Job, token string, ch *channels) error {
	req := request{rlimits: tier.rlimits(job), dropCaps: tier == T2}
	if job.checked() {
		// The program is forked from what receives this; the token must not be
		// in its memory.
		req.check, req.checker = true, checkerUID
	} else {
		req.token = token
	}
	if tier == T3 {
		req.uid, req.gid, req.checker = l.uid, l.uid, l.uid+1
	}
	if tier.privileged() {
		req.uid = firstJobUID + l.jobs%(hostRoot-firstJobUID)
		req.gid = req.uid
	}
	if _, _, err := l.control.WriteMsgUnix(req.text(), unix.UnixRights(ch.given()...), nil); err != nil {
		return fmt.Errorf("send job to lane: %w", err)
	}
	return nil
}

// answer is what the control socket said at the end of a job.
type answer struct {
	reply reply
	err   error
}

func (l *lane) receive() (a answer) {
	buf := make([]byte, 4096)
	n, err := l.control.Read(buf)
	if err != nil {
		return answer{err: fmt.Errorf("lane did not answer: %w", err)}
	}
	if n == 0 {
		return answer{err: errors.New("lane died")}
	}
	a.reply, a.err = readReply(buf[:n])
	return a
}

// outcome puts a finished job's facts together.
func (l *lane) outcome(ctx context.Context, m *meter, end *ending, ch *channels, token string) (Outcome, bool, error) {
	if end.cancelled {
		return Outcome{}, false, ctx.Err()
	}
	out := Outcome{
		Stop:     end.stop,
		Stdout:   ch.stdout.data,
		Stderr:   ch.stderr.bytes(),
		CPU:      end.cpu,
		Wall:     end.wall,
		Memory:   end.peak,
		OOMKills: end.ooms,
	}
	if ended := end.answer.err == nil; ended {
		status := end.answer.reply.status
		out.ExitCode = status.ExitStatus()
		if status.Signaled() {
			out.ExitCode, out.Signal = 128+int(status.Signal()), signalName(status.Signal())
		}
		if !m.exec || m.lane.group == nil {
			out.Memory = max(out.Memory, end.answer.reply.maxRSS)
		}
		if !m.counts {
			out.CPU = max(out.CPU, end.answer.reply.cpu)
		}
	} else if end.stop == NotStopped {
		if end.ooms == 0 {
			return Outcome{}, false, end.answer.err
		}
		out.Stop = StopMemory
	}
	if err := out.read(ch.result.data, token); err != nil {
		return Outcome{}, false, err
	}
	out.Files = fetched(ch.fetched.data)
	if out.Stop == NotStopped && ch.exceeded() {
		out.Stop = StopOutput // it ended before it could be stopped
	}
	clean := out.Stop == NotStopped && end.ooms == 0 && end.answer.reply.clean
	return out, clean, nil
}
