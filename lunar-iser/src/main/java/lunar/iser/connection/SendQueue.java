package lunar.iser.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lunar.iscsi.pdu.Bhs;
import lunar.iser.memory.DeviceMemory;
import lunar.iser.wire.IserHeader;
import lunar.rdma.Completion;
import lunar.rdma.CompletionStatus;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointStateException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Posts the send operations of a connection in order: messages, RDMA Writes and RDMA Reads. Operations wait while the
 * endpoint's send queue is full or the peer has no buffer for them. Any thread may add and post; the home loop handles
 * completions.
 *
 * <p>RDMA Writes are unsignalled, since the completion of a later message, such as the SCSI Response, covers them. A
 * SCSI Response waits until the RDMA Reads of its command have ended, because the initiator frees the memory when it
 * receives the response. A Task Management Response or an Async Message waits for all RDMA Reads, since it may report
 * that any command has been aborted.
 */
final class SendQueue {
    /** Called when the data of an R2T have been fetched, or the fetch has failed. */
    @FunctionalInterface
    interface Fetched {
        /** @param success whether all data have been fetched */
        void fetched(boolean success);
    }

    private final DeviceMemory memory;
    private final UnexpectedPdus unexpected;
    private final Runnable progress;
    private final Consumer<IOException> failed;

    /** This and all fields below are guarded by this. */
    private final ArrayDeque<SendEntry> waiting = new ArrayDeque<>();
    private final ArrayDeque<SendEntry> posted = new ArrayDeque<>();
    private final WorkRequest request = new WorkRequest();
    private @Nullable Endpoint endpoint;
    private int depth = 1;
    private long waitingBytes;
    private long waitingMessageBytes;
    /** Number of unsignalled operations since the last signalled one. */
    private int silentInRow;
    /** Number of posted RDMA Reads: all that precede the head of {@link #waiting} and have not completed. */
    private int readsOutstanding;
    /** Most RDMA Reads that may be outstanding, in addition to the endpoint's own limit. */
    private int maxReads = Integer.MAX_VALUE;
    private boolean isHeld;
    private boolean isClosing;
    private boolean isOver;
    private boolean wasCut;

    /** Entries that a completion has finished; for the home loop only. */
    private List<SendEntry> finished = new ArrayList<>();
    private List<SendEntry> finishing = new ArrayList<>();

    /**
     * @param progress called by the home loop when an operation has completed
     * @param failed called by any thread when an operation cannot be posted or has failed
     */
    SendQueue(DeviceMemory memory, boolean isInitiator, Runnable progress,
            Consumer<IOException> failed) {
        this.memory = memory;
        this.progress = progress;
        this.failed = failed;
        unexpected = new UnexpectedPdus(isInitiator);
    }

    DeviceMemory memory() { return memory; }

    /** Starts to post operations to a connected endpoint. */
    synchronized void open(Endpoint connected) {
        endpoint = connected;
        depth = connected.options().sendDepth();
    }

    /** Sets the most unexpected PDUs that the peer accepts at a time; 0 for no limit. */
    synchronized void limitUnexpected(long most) {
        unexpected.limit(most);
    }

    /** Sets the most RDMA Reads that the peer serves at a time. */
    synchronized void limitReads(int most) {
        maxReads = most;
    }

    /** Whether the peer serves RDMA Reads at all. */
    synchronized boolean mayRead() {
        return maxReads > 0;
    }

    /** Posts nothing until {@link #resume}, except what {@link #addFirst} adds. */
    synchronized void hold() {
        isHeld = true;
    }

    void resume() {
        synchronized (this) {
            isHeld = false;
        }
        post();
    }

    // --- adding ---

    /**
     * Creates a message, which the caller encodes and adds.
     *
     * @param length length of the message in bytes
     * @param bytes number of bytes that count as queued
     */
    SendEntry.Message newMessage(int length, long bytes) throws RdmaException {
        boolean isFull;
        synchronized (this) {
            isFull = isOver || waiting.size() + posted.size() >= depth;
        }
        return new SendEntry.Message(this, length, isFull ? null : memory.takeFor(length), bytes);
    }

    /** Adds an encoded message; returns false if the queue accepts nothing any more. */
    boolean add(SendEntry.Message message, Bhs bhs) {
        synchronized (this) {
            if (!isOver && !isClosing) {
                if (unexpected.isUnexpected(bhs)) {
                    count(message, bhs);
                }
                enqueue(message);
                return true;
            }
        }
        message.finish(false);
        return false;
    }

    /** Posts a message that is not a PDU, before all waiting operations and even while the queue is held. */
    void addFirst(SendEntry.Message message) {
        RdmaException why = null;
        synchronized (this) {
            Endpoint to = endpoint;
            if (!isOver && to != null) {
                try {
                    message.describe(request);
                    to.post(request.attachment(message));
                    posted.add(message);
                    return;
                } catch (RdmaException e) {
                    why = e;
                }
            }
        }
        message.finish(false);
        if (why != null) {
            failed.accept(why);
        }
    }

    /** Adds RDMA operations; returns false if the queue accepts nothing any more, and the caller finishes them. */
    boolean add(List<? extends SendEntry> operations) {
        synchronized (this) {
            if (isOver || isClosing) {
                return false;
            }
            operations.forEach(this::enqueue);
            return true;
        }
    }

    private void enqueue(SendEntry entry) {
        waiting.add(entry);
        waitingBytes += entry.bytes;
        waitingMessageBytes += entry instanceof SendEntry.Message ? entry.bytes : 0;
    }

    synchronized long waitingBytes() { return waitingBytes; }

    synchronized long waitingMessageBytes() { return waitingMessageBytes; }

    // --- posting ---

    /** Posts waiting operations, as far as the order and the limits permit. */
    void post() {
        IOException why;
        synchronized (this) {
            why = postAll();
        }
        if (why != null) {
            failed.accept(why);
        }
    }

    private @Nullable IOException postAll() {
        Endpoint to = endpoint;
        if (to == null || isHeld || isOver) {
            return null;
        }
        try {
            for (SendEntry next; (next = head()) != null && mayFollow(next);) {
                next.isSilent = next.maySilence() && silentInRow + 1 < depth / 2;
                next.describe(request);
                if (next.isSilent) {
                    request.unsignalled();
                }
                if (!to.tryPost(request.attachment(next))) {
                    break;
                }
                leave(next);
            }
            return null;
        } catch (EndpointStateException _) {
            return null; // the connection has ended, which is about to be reported
        } catch (RdmaException e) {
            return e;
        } catch (RuntimeException e) {
            return new IOException("cannot post an RDMA operation", e);
        }
    }

    /** Returns the next operation: a ping if the initiator must acknowledge before an unexpected PDU (section 8.1). */
    private @Nullable SendEntry head() throws RdmaException {
        SendEntry next = waiting.peek();
        if (!(next instanceof SendEntry.Message message) || !message.isUnexpected
                || !unexpected.needsPing(message.opcode)) {
            return next;
        }
        int length = IserHeader.LENGTH + Bhs.LENGTH;
        var ping = new SendEntry.Message(this, length, memory.takeFor(length), 0);
        IserHeader.encode(ping.content());
        Bhs bhs = UnexpectedPdus.ping(header(ping), header(message));
        count(ping, bhs);
        waiting.addFirst(ping);
        return ping;
    }

    private static Bhs header(SendEntry.Message message) {
        return new Bhs().wrap(message.content().asSlice(IserHeader.LENGTH, Bhs.LENGTH));
    }

    /** Notes the opcode, tag and StatSN of an unexpected PDU. */
    private void count(SendEntry.Message message, Bhs bhs) {
        message.isUnexpected = true;
        message.opcode = bhs.opcode();
        message.tag = unexpected.tag(bhs);
        message.statSn = UnexpectedPdus.statSn(bhs);
    }

    /** Moves the first waiting entry, which has been posted, to the posted ones. */
    private void leave(SendEntry entry) {
        waiting.remove();
        posted.add(entry);
        waitingBytes -= entry.bytes;
        silentInRow = entry.isSilent ? silentInRow + 1 : 0;
        if (entry instanceof SendEntry.Message message) {
            waitingMessageBytes -= entry.bytes;
            if (message.isUnexpected) {
                unexpected.sent(message.opcode, message.tag, message.statSn);
            }
        } else if (entry instanceof SendEntry.Read read) {
            read.command.readsOutstanding++;
            readsOutstanding++;
        }
    }

    private boolean mayFollow(SendEntry entry) {
        if (!(entry instanceof SendEntry.Message message)) {
            return !(entry instanceof SendEntry.Read) || readsOutstanding < maxReads;
        }
        RemoteCommand after = message.after;
        return (after == null || after.readsOutstanding == 0)
                && (!message.isAfterAllReads || readsOutstanding == 0)
                && (!message.isUnexpected || !unexpected.isFull(message.opcode));
    }

    /** Handles a PDU of the peer, which may permit the next unexpected PDU. */
    void received(Bhs bhs) {
        boolean fewer;
        synchronized (this) {
            fewer = unexpected.received(bhs) && !waiting.isEmpty();
        }
        if (fewer) {
            post();
        }
    }

    /** Handles the header of a request that the peer has rejected. */
    void rejected(Bhs refused) {
        boolean fewer;
        synchronized (this) {
            fewer = unexpected.rejected(refused) && !waiting.isEmpty();
        }
        if (fewer) {
            post();
        }
    }

    // --- completions, on the home loop ---

    /** Handles the completion of an operation; its success implies that of all unsignalled ones before it. */
    void completed(SendEntry entry, Completion how) {
        boolean success = how.isSuccess();
        synchronized (this) {
            if (entry.isDone) {
                return;
            }
            if (success) {
                for (SendEntry earlier : posted) {
                    if (earlier.equals(entry)) {
                        break;
                    }
                    if (earlier.isSilent && !earlier.isDone) {
                        done(earlier);
                    }
                }
            }
            wasCut |= !success;
            done(entry);
            while (!posted.isEmpty() && posted.peek().isDone) {
                posted.remove();
            }
        }
        if (!success && how.status() != CompletionStatus.FLUSHED) {
            failed.accept(new IOException("RDMA operation failed: " + how));
        }
        finish(success);
        post();
        progress.run();
    }

    /** Finishes completed entries. A release that throws ends the connection, but does not affect other entries. */
    private void finish(boolean success) {
        List<SendEntry> now = finished;
        finished = finishing;
        finishing = now;
        for (SendEntry each : now) {
            try {
                each.finish(success);
            } catch (RuntimeException | Error e) {
                failed.accept(new IOException(e));
            }
        }
        now.clear();
    }

    private void done(SendEntry entry) {
        entry.isDone = true;
        finished.add(entry);
        if (entry instanceof SendEntry.Read read) {
            read.command.readsOutstanding--;
            readsOutstanding--;
        }
    }

    // --- the end ---

    /** Accepts nothing more; waiting operations are still posted. */
    synchronized void close() {
        isClosing = true;
    }

    /** Whether all operations have completed; unsignalled ones at the end may be pending. */
    synchronized boolean isIdle() {
        return waiting.isEmpty()
                && posted.stream().allMatch(entry -> entry.isSilent || entry.isDone);
    }

    /** Posts nothing more. Posted operations are left to the device. */
    synchronized void stop() {
        isOver = true;
    }

    /** Whether operations have failed or were never posted; after the end. */
    synchronized boolean wasCut() {
        return wasCut;
    }

    /** Finishes operations that were never posted, after {@link #stop}; on the home loop. */
    void dropWaiting() {
        List<SendEntry> dropped;
        synchronized (this) {
            dropped = List.copyOf(waiting);
            wasCut |= !waiting.isEmpty();
            waiting.clear();
            waitingBytes = 0;
            waitingMessageBytes = 0;
        }
        finished.addAll(dropped);
        finish(false);
    }

    /** Finishes operations that were posted, after the endpoint has been closed; on the home loop. */
    void dropPosted() {
        synchronized (this) {
            endpoint = null;
            for (SendEntry each : posted) {
                if (!each.isDone) {
                    wasCut = true;
                    done(each);
                }
            }
            posted.clear();
        }
        finish(false);
    }
}
