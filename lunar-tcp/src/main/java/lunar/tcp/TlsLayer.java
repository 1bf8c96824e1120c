package lunar.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one connection, between its transport and its nonblocking socket: encrypts what is written, decrypts what is
 * read. Has three buffers of a record each, from its creation to {@link #end}, and allocates nothing per record.
 *
 * <p>Threads: {@link #read} and the state of the input are confined to the loop's thread; output and {@link #handshake}
 * are guarded by the transport's lock. {@link SSLEngine} allows one wrap and one unwrap concurrently.
 *
 * <p>Reading continues while output is blocked; otherwise two ends that both send could deadlock. A peer that requests
 * key updates without reading the answers is disconnected at a limit.
 */
final class TlsLayer implements ReadableByteChannel, GatheringByteChannel {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /** Reads of the socket in one call, so that a peer that sends empty records does not hold the loop. */
    private static final int MAX_FILLS = 8;

    /** Records decrypted in one call, for the same reason; those that are left are read in the next turn. */
    private static final int MAX_RECORDS_PER_READ = 128;

    /** Records of the peer in a handshake, which usually has fewer than 20; bounds its time on the loop. */
    private static final int MAX_HANDSHAKE_RECORDS = 256;

    /** Records of data in one turn, so that a peer that reads quickly does not hold the loop for the whole queue. */
    private static final int MAX_RECORDS_PER_TURN = 64;

    /**
     * Messages of the peer that may be received while an answer to its KeyUpdate, or a KeyUpdate of this end, waits for
     * the socket. The JDK sends a KeyUpdate each 128 GiB.
     */
    private static final int MAX_UNANSWERED = 64;

    /** Bytes of a record of TLS 1.3 besides its content (RFC 8446 section 5.2). */
    private static final int RECORD_OVERHEAD = 22;

    /**
     * Bytes of handshake messages that the peer may send at once after the handshake: a server has tickets to send. A
     * record may hold thousands of KeyUpdates, each of which costs the derivation of keys on the loop. The JDK pads one
     * to 21 bytes.
     */
    private static final int SERVER_MESSAGE_BYTES = 64 << 10;
    private static final int CLIENT_MESSAGE_BYTES = 4 << 10;

    /** Bytes of data that permit a byte of such messages. */
    private static final int DATA_PER_MESSAGE_BYTE = 16 << 10;

    private static final int BUFFERS = 3;

    private final ByteBuffer[] nothing = {ByteBuffer.allocate(0)};
    private final ByteBuffer[] single = new ByteBuffer[1];
    private final ByteBuffer[] into = new ByteBuffer[2];

    private final ByteChannel socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;
    private final Executor computations;

    // All three are ready to be read from. Loop's thread: received records, and data of one that had no room.
    private final ByteBuffer received;
    private final ByteBuffer plain;
    /** A record for the socket; guarded by the transport's lock. */
    private final ByteBuffer encrypted;

    private final CompletableFuture<Void> established = new CompletableFuture<>();
    private volatile boolean handshaking = true;
    /** Whether the engine wants to send something of its own; set by any thread, reset by {@link #flush}. */
    private volatile boolean owes;
    /** Messages that the peer wants an answer to, since all answers were sent; roughly. */
    private volatile int unanswered;
    private volatile boolean computing;
    private volatile @Nullable Throwable computationFailure;
    private int handshakeRecords;
    private final int maxMessageBytes;
    /** Bytes of handshake messages that the peer may send now, and data that counts for the next; loop's thread. */
    private long messageBytes;
    private long dataBytes;
    private boolean outputClosed;
    /** Records of data that this turn may still send; guarded by the transport's lock. */
    private int recordsLeft;
    private volatile boolean isLastTurn;
    private boolean inputOver;
    private boolean hasInput;
    /** Whether the buffers of input are given back. */
    private boolean isInputEnded;
    private volatile boolean ended;

    /**
     * Takes its buffers.
     *
     * <p>If this fails, it holds none.
     *
     * @param engine configured, nothing sent or received
     * @param computations runs what takes long in a handshake
     * @throws IOException if there is no memory for them, or the engine cannot begin
     */
    TlsLayer(ByteChannel socket, SSLEngine engine, TlsBuffers buffers, Executor computations)
            throws IOException {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        this.computations = computations;
        maxMessageBytes = engine.getUseClientMode() ? SERVER_MESSAGE_BYTES : CLIENT_MESSAGE_BYTES;
        messageBytes = maxMessageBytes;
        engine.beginHandshake();
        ByteBuffer[] own = buffers.take(BUFFERS);
        received = own[0];
        plain = own[1];
        encrypted = own[2];
    }

    // --- handshake ---

    /** Whether nothing can be sent or received yet. */
    boolean isHandshaking() {
        return handshaking;
    }

    /** Completed by the transport after the handshake; fails if the connection ends before. */
    CompletableFuture<Void> established() {
        return established;
    }

    /**
     * Continues the handshake as far as possible without waiting, or to its end ({@link #isHandshaking}).
     *
     * @param resume run by another thread when a computation is done; calls {@link #computed} and this method, both on
     *        the loop's thread
     * @return the failure of the handshake, of which the peer has been told if the socket permits; null for none
     */
    @Nullable
    IOException handshake(Runnable resume) {
        try {
            advance(resume);
            return null;
        } catch (IOException e) {
            alert();
            return e;
        }
    }

    private void advance(Runnable resume) throws IOException {
        while (handshaking && !computing && drain()) {
            if (computationFailure != null) {
                throw new IOException("TLS computation failed", computationFailure);
            }
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> compute(resume);
                case NEED_WRAP -> {
                    int _ = wrap(nothing, 0, 1);
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (!receiveHandshake()) {
                        return;
                    }
                }
                case NOT_HANDSHAKING, FINISHED -> {
                    handshaking = false;
                    hasInput = received.hasRemaining() || plain.hasRemaining();
                }
            }
        }
    }

    /** Returns whether a record was received. */
    private boolean receiveHandshake() throws IOException {
        SSLEngineResult result = unwrap(nothing[0]);
        return switch (result.getStatus()) {
            case OK -> {
                if (++handshakeRecords > MAX_HANDSHAKE_RECORDS) {
                    throw new SSLException("the peer sent too many records in the handshake");
                }
                yield true;
            }
            case BUFFER_UNDERFLOW -> {
                int count = fill();
                if (count < 0) {
                    throw new EOFException("end of input during the handshake");
                }
                yield count > 0;
            }
            case CLOSED -> throw new EOFException("closed during the handshake");
            case BUFFER_OVERFLOW -> throw new SSLException(
                    "the peer sent application data during the handshake");
        };
    }

    private void compute(Runnable resume) throws IOException {
        computing = true;
        try {
            computations.execute(() -> {
                try {
                    Runnable task;
                    while (!ended && (task = engine.getDelegatedTask()) != null) {
                        task.run();
                    }
                } catch (RuntimeException | Error e) { // the engine keeps no Error
                    computationFailure = e;
                } finally {
                    resume.run();
                }
            });
        } catch (RejectedExecutionException e) {
            throw new IOException("too many TLS handshakes at once", e);
        }
    }

    /** A computation is done. */
    void computed() { computing = false; }

    /** Sends the alert of the engine's failure, if there is one and the socket accepts it. */
    void alert() {
        try {
            for (int i = 0; i < 2 && drain()
                    && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP; i++) {
                encrypted.clear();
                try {
                    SSLEngineResult _ = engine.wrap(nothing[0], encrypted);
                } finally {
                    encrypted.flip();
                }
            }
            boolean _ = drain();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "TLS alert: {0}", e.toString());
        }
    }

    // --- receiving ---

    /** Whether the socket should be read: not while a computation of the handshake runs. */
    boolean wantsInput() {
        return !computing;
    }

    /** Whether the engine wants to send something of its own, such as the answer to a KeyUpdate. */
    boolean owes() {
        return owes;
    }

    /** Whether a read would get something that the socket does not report, since it is here already. */
    boolean hasInput() {
        return hasInput;
    }

    /**
     * Decrypts into a buffer as much as has been received and fits.
     *
     * @return bytes, perhaps 0; -1 after the peer's close_notify
     * @throws EOFException at an end of input without close_notify: what follows may have been cut off
     */
    @Override
    public int read(ByteBuffer to) throws IOException {
        int before = to.position();
        hasInput = false;
        if (plain.hasRemaining()) {
            copy(to);
        }
        int records = 0;
        for (int fills = 0; to.hasRemaining() && !inputOver
                && records < MAX_RECORDS_PER_READ; records++) {
            SSLEngineResult result = unwrap(to);
            account(result);
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                owes = true; // the only value that two threads may set
                requireAnswers(result);
            }
            switch (result.getStatus()) {
                case OK -> requireProgress(result);
                case CLOSED -> inputOver = true;
                case BUFFER_OVERFLOW -> throw new SSLException("record too long");
                case BUFFER_UNDERFLOW -> {
                    // After a read that left room, the socket has no more.
                    if ((fills > 0 && received.limit() < received.capacity())
                            || fills++ == MAX_FILLS) {
                        return count(before, to);
                    }
                    int count = fill();
                    if (count < 0 && to.position() == before) {
                        throw new EOFException("the peer ended the connection without a TLS"
                                + " close_notify, so data may be missing");
                    }
                    if (count <= 0) {
                        return count(before, to);
                    }
                }
            }
        }
        int count = count(before, to);
        hasInput = inputOver ? count > 0 : plain.hasRemaining() || received.hasRemaining();
        return count == 0 && inputOver ? -1 : count;
    }

    private void account(SSLEngineResult result) throws SSLException {
        if (result.bytesProduced() > 0) {
            dataBytes += result.bytesProduced();
            messageBytes = Math.min(maxMessageBytes,
                    messageBytes + dataBytes / DATA_PER_MESSAGE_BYTE);
            dataBytes %= DATA_PER_MESSAGE_BYTE;
        } else {
            messageBytes -= Math.clamp(result.bytesConsumed() - RECORD_OVERHEAD,
                    Math.min(1, result.bytesConsumed()), Integer.MAX_VALUE); // an empty record counts too
            if (messageBytes < 0) {
                throw new SSLException("the peer sent too many handshake messages after the"
                        + " handshake");
            }
        }
    }

    private static int count(int before, ByteBuffer to) { return to.position() - before; }

    private static void requireProgress(SSLEngineResult result) throws SSLException {
        if (result.bytesConsumed() == 0 && result.bytesProduced() == 0
                && result.getHandshakeStatus() != HandshakeStatus.NEED_WRAP) {
            throw new SSLException("unexpected handshake message");
        }
    }

    private void requireAnswers(SSLEngineResult result) throws SSLException {
        if (result.bytesConsumed() > 0 && result.bytesProduced() == 0) {
            int waiting = unanswered + 1;
            unanswered = waiting; // a reset by another thread that is lost here comes again
            if (waiting > MAX_UNANSWERED) {
                throw new SSLException("the peer sent more than " + MAX_UNANSWERED
                        + " handshake messages while a KeyUpdate of this end waited to be sent");
            }
        }
    }

    private void copy(ByteBuffer to) {
        int count = Math.min(plain.remaining(), to.remaining());
        to.put(to.position(), plain, plain.position(), count);
        to.position(to.position() + count);
        plain.position(plain.position() + count);
    }

    /** Decrypts a record straight into a buffer; what has no room there goes into {@code plain}, which is empty. */
    private SSLEngineResult unwrap(ByteBuffer to) throws SSLException {
        into[0] = to;
        into[1] = plain.clear();
        try {
            return engine.unwrap(received, into, 0, 2);
        } finally {
            plain.flip();
            into[0] = plain; // or it would keep the memory of others alive
        }
    }

    private int fill() throws IOException {
        received.compact();
        try {
            if (!received.hasRemaining()) {
                throw new SSLException("record too long");
            }
            return socket.read(received);
        } finally {
            received.flip();
        }
    }

    // --- sending, under the transport's lock ---

    /** Begins a turn, in which {@link #write} sends a limited number of records. */
    void beginTurn() {
        recordsLeft = isLastTurn ? Integer.MAX_VALUE : MAX_RECORDS_PER_TURN;
    }

    /** Removes the limit, for a connection that ends with its loop. On the loop's thread. */
    void beginLastTurn() {
        isLastTurn = true;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        single[0] = from;
        try {
            return (int) write(single, 0, 1);
        } finally {
            single[0] = nothing[0];
        }
    }

    @Override
    public long write(ByteBuffer[] from) throws IOException { return write(from, 0, from.length); }

    /**
     * Encrypts and sends as long as the socket accepts everything and the turn lasts.
     *
     * @return bytes taken; the last record of them may still be here ({@link #hasOutput})
     */
    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        long taken = 0;
        int first = offset;
        int end = offset + length;
        while (!handshaking && !outputClosed && recordsLeft > 0 && drain()) {
            while (first < end && !from[first].hasRemaining()) {
                first++;
            }
            if (first == end) {
                break;
            }
            taken += wrap(from, first, end - first);
            recordsLeft--;
        }
        return taken;
    }

    /**
     * Whether there is something to send now: encrypted, or of the engine's own.
     *
     * @param isQueued whether data waits to be written, which is not sent during the handshake
     */
    boolean hasOutput(boolean isQueued) {
        return encrypted.hasRemaining() || (!handshaking
                && (outputClosed ? !engine.isOutboundDone() : isQueued || owes));
    }

    /** Sends what {@link #hasOutput} is about, as far as the socket accepts it. Returns whether that is everything. */
    boolean flush() throws IOException {
        if (handshaking) { // which sends its messages itself, or the loop would not wait for the socket
            return !encrypted.hasRemaining();
        }
        while (drain()) {
            boolean isClosing = outputClosed && !engine.isOutboundDone();
            if (!owes && !isClosing) {
                return true;
            }
            owes = false; // before the look, for a reader may set it at any time
            if (isClosing || (!outputClosed
                    && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP)) {
                int _ = wrap(nothing, 0, 1);
            }
        }
        return false;
    }

    /** Ends the output by a close_notify, when all else is written; {@link #flush} sends the rest. Idempotent. */
    void closeOutput() {
        if (handshaking) {
            return;
        }
        try {
            if (!outputClosed) {
                outputClosed = true;
                engine.closeOutbound();
            }
            boolean _ = flush();
        } catch (IOException e) { // the socket fails too, when it is shut
            LOG.log(System.Logger.Level.DEBUG, "close_notify: {0}", e.toString());
            encrypted.limit(encrypted.position());
        }
    }

    /** Makes one record of data; {@code encrypted} is empty. Returns the bytes taken. */
    private int wrap(ByteBuffer[] from, int offset, int length) throws SSLException {
        SSLEngineResult result;
        encrypted.clear();
        boolean isDone = false;
        try {
            result = engine.wrap(from, offset, length, encrypted);
            isDone = true;
        } finally {
            encrypted.limit(isDone ? encrypted.position() : 0).position(0); // never what is not encrypted yet
        }
        switch (result.getStatus()) {
            case OK -> {
            }
            case CLOSED -> {
                if (handshaking) {
                    throw new SSLException("closed during the handshake");
                }
                outputClosed = true; // the peer has closed both directions, perhaps
            }
            case BUFFER_OVERFLOW, BUFFER_UNDERFLOW ->
                throw new SSLException("cannot encrypt: " + result.getStatus());
        }
        if (!handshaking) {
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                owes = true;
            } else {
                unanswered = 0;
            }
        }
        return result.bytesConsumed();
    }

    /** Returns whether the socket has accepted everything encrypted. */
    private boolean drain() throws IOException {
        if (encrypted.hasRemaining()) {
            int _ = socket.write(encrypted);
        }
        return !encrypted.hasRemaining();
    }

    // --- ending ---

    /** Gives the buffers of input back, since nothing more is read. On the loop's thread, after the handshake. */
    void endInput() {
        if (!handshaking && !ended && !isInputEnded) {
            isInputEnded = true;
            hasInput = false;
            buffers.give(received);
            buffers.give(plain);
        }
    }

    /** Gives the buffers back, under the lock on the loop's thread. Nothing else may be called afterwards. */
    void end(IOException cause) {
        if (!ended) {
            ended = true;
            if (!isInputEnded) {
                buffers.give(received);
                buffers.give(plain);
            }
            buffers.give(encrypted);
            boolean _ = established.completeExceptionally(cause);
        }
    }

    @Override
    public boolean isOpen() { return socket.isOpen(); }

    /** Has no effect: the transport closes the socket. */
    @Override
    public void close() {}
}
