package lunar.raid.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.SlotState;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.MemberIoBatch;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeBuffers;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.layout.ReshapeMap.Window;

/** The data of some rows that are being reshaped, and the writes that bring them to their members. Reused. */
final class ReshapeWindow {
    private final Migration migration;
    private final StripeEngine engine;
    private final Layout layout;
    private final MemorySegment data;
    private final List<StripeBuffers> buffers = new ArrayList<>();
    private final Plan plan;
    private final MemberIoBatch ios;
    private Completion step = _ -> {};
    private Runnable then = () -> {};
    private Window window = new Window(0, 0, false);

    /** @param rows the most rows of a window */
    ReshapeWindow(Migration migration, int rows) {
        this.migration = migration;
        engine = migration.after;
        layout = engine.layout;
        int most = Math.max(rows, migration.map.step());
        int stripes = Math.toIntExact(Math.ceilDiv((long) most * layout.shape().members(),
                layout.units()));
        data = Arena.ofAuto().allocate(
                (long) stripes * layout.stripeBlocks() * engine.blockSize(), 4096);
        for (int i = 0; i < stripes; i++) {
            buffers.add(new StripeBuffers(layout));
        }
        Plan whole = engine.planner.write(0, layout.stripeBlocks(), 0, 0);
        if (whole == null || !whole.reads().isEmpty()) {
            throw new IllegalStateException("a whole stripe cannot be written");
        }
        plan = whole;
        ios = new MemberIoBatch(engine::newIo, () -> then.run());
    }

    /** Returns the number of rows that there is room to stage. */
    int stagingRows() {
        return migration.state.stagingBlocks() / layout.chunkBlocks();
    }

    /** Returns the bytes that were written to all members. */
    long bytes() {
        return (long) window.rows() * layout.shape().members() * layout.shape().chunkBytes();
    }

    /** Returns the read that fills the window; the part that it does not fill is zero. */
    BlockRequest begin(Window next) {
        window = next;
        ReshapeMap map = migration.map;
        long from = map.blocks(next.from());
        long blocks = map.blocks(next.end()) - from;
        MemorySegment filled = data.asSlice(0, blocks * engine.blockSize());
        data.asSlice(filled.byteSize()).fill((byte) 0);
        return new BlockRequest().asRead(from, blocks, filled);
    }

    private long firstStripe() { return migration.map.stripes(window.from()); }

    private int stripes() { return (int) (migration.map.stripes(window.end()) - firstStripe()); }

    /** Computes the redundancy of the window's stripes. */
    void compute() {
        long bytes = (long) layout.stripeBlocks() * engine.blockSize();
        for (int i = 0; i < stripes(); i++) {
            StripeBuffers one = buffers.get(i);
            one.use(data.asSlice(i * bytes, bytes), 0);
            one.compute(plan);
        }
    }

    /**
     * Writes all units, and flushes.
     *
     * @param isStaging whether to write to the staging areas of the members, else in place
     * @param step called when the units are stable on all members that have not failed, and failures of members are
     *        stable, too; or with why the volume has failed
     */
    void write(boolean isStaging, Completion step) {
        this.step = step;
        then = this::written;
        Slots slots = engine.slots();
        ios.begin();
        for (int i = 0; i < stripes(); i++) {
            long stripe = firstStripe() + i;
            for (Plan.Transfer write : plan.writes()) {
                int slot = layout.slot(stripe, write.unit());
                Member member = slots.member(slot);
                if (member != null && slots.state(slot) != SlotState.FAILED) {
                    long block = layout.memberBlock(stripe, write.unit()) + write.from();
                    ios.start(slot, member, Operation.WRITE,
                            isStaging ? staging(member, block) : block, write.blocks(),
                            buffers.get(i).segment(write), false);
                }
            }
        }
        ios.started();
    }

    /** Returns the member block of a staged unit; negative, since it is before the data area. */
    private long staging(Member member, long block) {
        return migration.state.stagingBlock() - member.deviceBlock(0) + block
                - window.from() * layout.chunkBlocks();
    }

    private void written() {
        if (!survives()) {
            return;
        }
        then = this::flushed;
        Slots slots = engine.slots();
        ios.begin();
        for (int slot = 0; slot < slots.count(); slot++) {
            Member member = slots.member(slot);
            if (member != null && slots.state(slot) != SlotState.FAILED) {
                ios.start(slot, member, Operation.FLUSH, 0, 0, MemorySegment.NULL, false);
            }
        }
        ios.started();
    }

    private void flushed() {
        if (survives()) {
            engine.membership.whenStable(() -> {
                StorageException end = engine.membership.end();
                step.completed(end == null
                        ? null
                        : new DeviceGoneException("reshape: " + end.getMessage(), end));
            });
        }
    }

    /** Fails members that have not taken something; ends the step if the volume cannot do without. */
    private boolean survives() {
        StorageException end = null;
        for (MemberIo io : ios.failures()) {
            StorageException cause = io.failure();
            if (cause != null && !engine.fail(io.member(), cause)) {
                end = cause;
            }
        }
        if (end != null) {
            step.completed(end);
        }
        return end == null;
    }
}
