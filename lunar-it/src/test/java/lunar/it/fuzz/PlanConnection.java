package lunar.it.fuzz;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** A connection that executes a plan. Confined to the fuzzer's thread. */
final class PlanConnection {
    private static final long HANG_MS = 180_000;
    private static final long SLOW_MS = 50;

    /** Without a challenge by then, the request for it was malformed. */
    private static final long CHALLENGE_MS = 300;

    final Plan plan;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final AnswerChecker answers;
    private final Deque<ByteBuffer> toSend = new ArrayDeque<>();
    private final long startMs;
    private final int port;
    private boolean challengeAwaited;
    private boolean sentAll;
    private boolean reset;
    private boolean over;
    private long byteCount;

    PlanConnection(Plan plan, InetSocketAddress portal, Selector selector,
            Map<String, Integer> seen,
            long nowMs) throws IOException {
        this.plan = plan;
        channel = SocketChannel.open(portal);
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        answers = new AnswerChecker(seen);
        startMs = nowMs;
        challengeAwaited = plan.chap().isPresent();
        queue(plan.bytes());
        key = channel.register(selector, SelectionKey.OP_WRITE
                | (plan.ending() == Plan.Ending.SLOW ? 0 : SelectionKey.OP_READ), this);
    }

    int port() { return port; }

    boolean isOver() { return over; }

    long byteCount() { return byteCount; }

    private void queue(List<byte[]> pieces) {
        pieces.forEach(piece -> toSend.add(ByteBuffer.wrap(piece)));
    }

    /** The socket is ready. */
    void ready(MemorySegment staging, ByteBuffer buffer) {
        try {
            if (!over && key.isValid() && key.isWritable()) {
                write();
            }
            if (!over && key.isValid() && key.isReadable()) {
                read(staging, buffer);
            }
        } catch (IOException e) {
            reset = true; // the target has given up waiting for us, or we wrote to one that had
            end();
        }
    }

    /** Once in a while. */
    void tick(long nowMs) {
        long age = nowMs - startMs;
        if (plan.ending() == Plan.Ending.SLOW && age > SLOW_MS && key.isValid()) {
            key.interestOpsOr(SelectionKey.OP_READ);
        }
        if (challengeAwaited && age > CHALLENGE_MS) {
            challengeAwaited = false;
            key.interestOpsOr(SelectionKey.OP_WRITE);
        }
        if (age > HANG_MS) {
            throw new FuzzFailure("the target has neither ended the connection nor answered all of"
                    + " it for " + age + " ms");
        }
    }

    private void write() throws IOException {
        ByteBuffer piece = toSend.peek();
        if (piece != null) {
            byteCount += channel.write(piece);
            if (piece.hasRemaining()) {
                return;
            }
            toSend.remove();
        }
        if (!toSend.isEmpty()) {
            return; // the next piece has its own turn, so that the target sees this one alone
        }
        key.interestOpsAnd(~SelectionKey.OP_WRITE);
        if (challengeAwaited || sentAll) {
            return;
        }
        sentAll = true;
        switch (plan.ending()) {
            case RESET -> {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                end();
            }
            case HALF_CLOSE, SLOW -> channel.shutdownOutput();
            case STALL -> {
            }
        }
    }

    private void read(MemorySegment staging, ByteBuffer buffer) throws IOException {
        while (!over) {
            int kept = answers.restore(staging);
            int count = channel.read(buffer.clear().position(kept));
            if (count < 0) {
                if (answers.inPdu()) {
                    throw new FuzzFailure("the target ends its stream inside a PDU");
                }
                end();
                return;
            }
            answers.check(staging, buffer.position());
            byte[] challenge = answers.takeChallenge();
            if (challengeAwaited && (challenge != null || answers.loginResponses() > 1)) {
                challengeAwaited = false;
                if (challenge != null) {
                    Plan.ChapTurn turn = plan.chap().orElseThrow();
                    toSend.add(ByteBuffer.wrap(ChapPeer.answer(turn, challenge)));
                    queue(turn.rest());
                }
                key.interestOpsOr(SelectionKey.OP_WRITE);
            }
            if (buffer.hasRemaining()) {
                return;
            }
        }
    }

    private void end() {
        over = true;
        key.cancel();
        try {
            channel.close();
        } catch (IOException _) {
            // It is over in any case.
        }
    }

    /** Streams that the target has looked at: those whose pings it answered, and the one that ended it. */
    int streamsSeen() {
        if (plan.clean() && !answers.wasBusy()
                && (reset || answers.answeredProbes() != plan.streams())) {
            throw new FuzzFailure("only " + answers.answeredProbes() + " of " + plan.streams()
                    + " streams without a mistake were answered"
                    + (reset ? ", then the connection was reset" : ""));
        }
        return Math.min(plan.streams(), answers.answeredProbes() + 1);
    }

    boolean wasReset() { return reset; }

    int answeredProbes() { return answers.answeredProbes(); }
}
