package lunar.raid.engine.member;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.Limits;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.raid.CheckedDevice;
import lunar.raid.FailurePolicy;
import org.jspecify.annotations.Nullable;

/**
 * A request to a member, split into pieces that fit the member's limits, one after the other, each retried where that
 * may help, and while the member is busy ({@link MemberQueue}). Reused.
 */
public final class MemberIo implements BlockRequest.Completion, MemberQueue.Entry {
    /** Called when the request has ended. */
    public interface Owner {
        void ended(MemberIo io);
    }

    /** The volume of a request, as far as requests to its members need it. */
    public interface Context {
        int blockSize();

        FailurePolicy policy();

        /** Returns what runs work a moment later, to try a busy member again. */
        Executor pauses();

        /** Returns the ticks so far. */
        int now();

        boolean isClosed();

        /** Whether a member is in its slot, and has not failed. */
        boolean isUsed(Member member);

        LossHandler losses();
    }

    /** Decides about members that have lost acknowledged writes. */
    public interface LossHandler {
        /** Whether a request has met a member that lost writes, so that its completion waits for a decision. */
        boolean concerns(MemberIo io, @Nullable StorageException failure);

        /** Holds a request until the decision, which it is told by {@link MemberIo#decided}. */
        void hold(MemberIo io, @Nullable StorageException failure);
    }

    /**
     * Limit of resends after losses; a member that reports more is not to be trusted, such as a file after a failed
     * sync.
     */
    private static final int MAX_LOSSES = 3;

    private final Context volume;
    private final BlockRequest request = new BlockRequest();
    private Owner owner = _ -> {};
    private @Nullable Member member;
    private Operation operation = Operation.FLUSH;
    private long memberBlock;
    private long blocks;
    private MemorySegment buffer = MemorySegment.NULL;
    private boolean fua;
    private boolean isChecked;
    /** Whether the request has a place in the member's queue. */
    private boolean isQueued;
    private long done;
    private long piece;
    private int retriesLeft;
    /** How often the request is still sent again while the volume goes on with a member that lost writes. */
    private int lossesLeft;
    private @Nullable StorageException failure;
    /** The owner's tag of the request. */
    private long tag;
    private volatile boolean isRunning;
    private volatile int startTick;

    public MemberIo(Context volume) { this.volume = volume; }

    /** Sets whether reads are verified against the checksums of members that have them; called before the start. */
    public MemberIo checked(boolean is) {
        isChecked = is;
        return this;
    }

    /** Starts the request. The buffer is for data; UNMAP and WRITE_ZEROES have none. */
    public void start(Owner owner, long tag, Member member, Operation operation, long memberBlock,
            long blocks, MemorySegment buffer, boolean fua) {
        set(owner, tag, member, operation, memberBlock, blocks, buffer, fua);
        isQueued = true;
        member.began();
        member.queue.enter(this);
    }

    /** Starts a flush beside the member's queue: requests that have a place there wait for its outcome. */
    void startFlushFirst(Owner owner, Member member) {
        set(owner, 0, member, Operation.FLUSH, 0, 0, MemorySegment.NULL, false);
        isQueued = false;
        member.began();
        admitted();
        run();
    }

    private void set(Owner owner, long tag, Member member, Operation operation, long memberBlock,
            long blocks, MemorySegment buffer, boolean fua) {
        this.owner = owner;
        this.tag = tag;
        this.member = member;
        this.operation = operation;
        this.memberBlock = memberBlock;
        this.blocks = blocks;
        this.buffer = buffer;
        this.fua = fua;
        done = 0;
        failure = null;
        retriesLeft = volume.policy().retries();
        lossesLeft = MAX_LOSSES;
    }

    @Override
    public void admitted() {
        startTick = volume.now();
        isRunning = true;
    }

    @Override
    public void refuse(StorageException why) {
        failure = why;
        member().ended();
        owner.ended(this);
    }

    /** Submits the next piece, or the same piece again. */
    @Override
    public void run() {
        Member to = member();
        long at = to.deviceBlock(memberBlock) + done;
        Limits limits = to.device.limits();
        switch (operation) {
            case READ, WRITE -> {
                piece = Math.min(blocks - done, limits.maxTransferBlocks());
                int blockSize = volume.blockSize();
                MemorySegment data = piece == blocks
                        ? buffer
                        : buffer.asSlice(done * blockSize, piece * blockSize);
                if (operation == Operation.READ) {
                    request.asRead(at, piece, data);
                } else {
                    request.asWrite(at, piece, data, fua);
                }
            }
            case UNMAP -> {
                piece = Math.min(blocks - done, limits.maxUnmapBlocks());
                request.asUnmap(at, piece);
            }
            case WRITE_ZEROES -> {
                piece = Math.min(blocks - done, limits.maxWriteZeroesBlocks());
                request.asWriteZeroes(at, piece, fua);
            }
            case FLUSH -> request.asFlush();
            case COMPARE_AND_WRITE -> throw new IllegalStateException("members are not asked so");
        }
        request.onCompletion(this);
        if (isChecked && operation == Operation.READ
                && to.device instanceof CheckedDevice device) {
            device.submitChecked(request);
        } else {
            to.device.submit(request);
        }
    }

    @Override
    public void completed(BlockRequest ended, @Nullable StorageException failure) {
        if (isQueued && !(failure instanceof BusyException)) {
            member().queue.answered(failure == null);
        }
        if (failure == null) {
            done += piece;
            retriesLeft = volume.policy().retries();
            if (operation != Operation.FLUSH && done < blocks) {
                Trampoline.run(this);
                return;
            }
        } else if (failure instanceof BusyException && !volume.isClosed()) {
            if (waitsForMember()) {
                return;
            }
        } else if (failure.retryable() && retriesLeft > 0 && !volume.isClosed()) {
            retriesLeft--;
            Trampoline.run(this);
            return;
        }
        if (failure instanceof LostWritesException && member().areLossesAccepted()) {
            decided(failure, false);
        } else if (volume.losses().concerns(this, failure)) {
            volume.losses().hold(this, failure);
        } else if (failure == null && operation == Operation.READ && member().hasLostWrites()
                && !volume.isClosed()) {
            end(member().lossFailure()); // it has been failed meanwhile
        } else {
            end(failure);
        }
    }

    /** Waits until the member is not too busy any more; returns false if it has been waited for long enough. */
    private boolean waitsForMember() {
        if (isQueued) {
            isRunning = false;
            return member().queue.takesBack(this, volume.pauses(), volume.now(),
                    volume.policy().stallTicks());
        }
        boolean waits = volume.isUsed(member()); // one that stays busy is failed as one that does not answer
        if (waits) {
            volume.pauses().execute(this);
        }
        return waits;
    }

    /** Goes on after the volume has decided what becomes of a member that lost writes. */
    void decided(@Nullable StorageException failure, boolean isFailed) {
        boolean isFlush = operation == Operation.FLUSH;
        boolean isLoss = failure instanceof LostWritesException && !isFlush && !volume.isClosed();
        if (isFailed) {
            end(failure == null ? member().lossFailure() : failure);
        } else if (isLoss && lossesLeft-- > 0) {
            Trampoline.run(this);
        } else if (failure != null && isLoss) {
            end(new DeviceGoneException(
                    member() + " vouches for nothing: " + failure.getMessage(), failure));
        } else {
            end(failure);
        }
    }

    private void end(@Nullable StorageException failure) {
        this.failure = failure;
        isRunning = false;
        Member from = member();
        from.ended();
        if (isQueued) {
            from.queue.left();
        }
        owner.ended(this);
    }

    public Member member() {
        Member there = member;
        if (there == null) {
            throw new IllegalStateException("not started");
        }
        return there;
    }

    /** Whether the request belongs to an owner. */
    boolean isOf(Owner other) {
        return owner.equals(other);
    }

    /** Returns why the request failed; null if it did not. */
    public @Nullable StorageException failure() {
        return failure;
    }

    public long tag() { return tag; }

    public long memberBlock() { return memberBlock; }

    public long blocks() { return blocks; }

    /** Whether the request has taken this many ticks or more. */
    public boolean hasStalled(int now, int ticks) {
        return isRunning && now - startTick >= ticks;
    }
}
