package lunar.raid.engine.member;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import lunar.block.BlockRequest.Operation;

/** Requests to members that are in flight together; runs an action once when all of them have ended. Reused. */
public final class MemberIoBatch implements MemberIo.Owner {
    private final Supplier<MemberIo> newIo;
    private final Runnable whenEnded;
    private final List<MemberIo> ios = new ArrayList<>();
    private final AtomicInteger pending = new AtomicInteger();
    private int started;
    private boolean isChecked;

    /** @param newIo makes requests, which the batch keeps for further use */
    public MemberIoBatch(Supplier<MemberIo> newIo, Runnable whenEnded) {
        this.newIo = newIo;
        this.whenEnded = whenEnded;
    }

    /** Begins a batch: calls of {@link #start} follow, and then {@link #started}. */
    public void begin() {
        begin(false);
    }

    /** Like {@link #begin()}, but sets whether reads are verified against checksums, where there are any. */
    public void begin(boolean checked) {
        isChecked = checked;
        started = 0;
        pending.set(1);
    }

    /** Starts a request, with the parameters of {@link MemberIo#start}. */
    public void start(int tag, Member member, Operation operation, long block, int count,
            MemorySegment data, boolean fua) {
        if (started == ios.size()) {
            ios.add(newIo.get());
        }
        MemberIo io = ios.get(started++);
        pending.incrementAndGet();
        io.checked(isChecked).start(this, tag, member, operation, block, count, data, fua);
    }

    /** Ends the batch: all requests have been started. */
    public void started() { end(); }

    @Override
    public void ended(MemberIo io) { end(); }

    private void end() {
        if (pending.decrementAndGet() == 0) {
            Trampoline.run(whenEnded);
        }
    }

    /** Returns the requests that have failed; called when all have ended. */
    public List<MemberIo> failures() {
        List<MemberIo> failures = List.of();
        for (int i = 0; i < started; i++) {
            if (ios.get(i).failure() != null) {
                failures = failures.isEmpty() ? new ArrayList<>() : failures;
                failures.add(ios.get(i));
            }
        }
        return failures;
    }
}
