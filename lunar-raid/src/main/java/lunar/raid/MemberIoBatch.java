package lunar.raid;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest.Operation;

/** Requests to members that are under way together. Whoever waits for all of them goes on once. Reused. */
final class MemberIoBatch implements MemberIo.Owner {
    private final Engine engine;
    private final Runnable whenEnded;
    private final List<MemberIo> ios = new ArrayList<>();
    private final AtomicInteger pending = new AtomicInteger();
    private int started;
    private boolean isChecked;

    MemberIoBatch(Engine engine, Runnable whenEnded) {
        this.engine = engine;
        this.whenEnded = whenEnded;
    }

    /** Requests follow, and then {@link #started}. */
    void begin() { begin(false); }

    /** The same; what they read is compared with checksums, where there are any, or it is not. */
    void begin(boolean checked) {
        isChecked = checked;
        started = 0;
        pending.set(1);
    }

    /** A request, as {@link MemberIo#start} has it. */
    void start(int tag, Member member, Operation operation, long block, int count,
            MemorySegment data, boolean fua) {
        if (started == ios.size()) {
            ios.add(engine.newIo());
        }
        MemberIo io = ios.get(started++);
        pending.incrementAndGet();
        io.checked(isChecked).start(this, tag, member, operation, block, count, data, fua);
    }

    /** All have been started. */
    void started() { end(); }

    @Override
    public void ended(MemberIo io) { end(); }

    private void end() {
        if (pending.decrementAndGet() == 0) {
            Trampoline.run(whenEnded);
        }
    }

    /** The requests that have failed; when all have ended. */
    List<MemberIo> failures() {
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
