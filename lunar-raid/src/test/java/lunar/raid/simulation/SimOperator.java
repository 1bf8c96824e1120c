package lunar.raid.simulation;

import java.util.BitSet;
import lunar.raid.BackgroundScan;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.simulation.EventCounts.Event;
import org.jspecify.annotations.Nullable;

/** The operator of the volume: replaces members, takes them back, resumes rebuilds, scrubs. */
final class SimOperator {
    private final SimWorld world;
    private final SimVolume sim;
    private @Nullable Rebuild rebuild;
    private int scrubs;

    SimOperator(SimWorld world, SimVolume sim) {
        this.world = world;
        this.sim = sim;
    }

    void maintain() {
        if (sim.volume().isReshaping()) { // all else waits for its end
            return;
        }
        switch (world.random.nextInt(4)) {
            case 0, 1 -> repair();
            case 2 -> {
                if (rebuild != null && world.random.nextBoolean()) {
                    world.tally.count(Event.REBUILD_CANCELLED);
                    rebuild.cancel();
                }
            }
            default -> {
                if (scrubs == 0) {
                    scrub(world.random.nextBoolean());
                }
            }
        }
    }

    private ScanOptions scanOptions() {
        return ScanOptions.DEFAULT.withBatch(1 + world.random.nextInt(4))
                .withSaveStripes(1 + world.random.nextInt(6))
                .withPace((_, goOn) -> world.later(goOn));
    }

    void crash() {
        if (rebuild != null) {
            world.tally.count(Event.REBUILD_CRASHED);
        }
        rebuild = null;
        scrubs = 0;
    }

    // --- rebuilds ---

    /** Puts a new member where one has failed, or goes on with a rebuild. */
    void repair() {
        if (rebuild != null || sim.volume().isReshaping()) {
            return;
        }
        VolumeState state = sim.volume().state();
        for (int slot = 0; slot < world.members.size() && state.serving(); slot++) {
            Rebuild begun = begin(slot, state.slots().get(slot));
            if (begun != null) {
                world.tally.count(Event.REBUILD);
                rebuild = begun.hasEnded() ? null : begun;
                return;
            }
        }
    }

    private @Nullable Rebuild begin(int slot, SlotState is) {
        ScanOptions options = scanOptions().withOnEnd(this::ended);
        if (is == SlotState.FAILED && sim.kept().slots().get(slot) == SlotState.FAILED) {
            return sim.isCovered(slot) ? readmit(slot, options) : replace(slot, options);
        }
        if (is == SlotState.REBUILDING) {
            world.tally.count(Event.REBUILD_CONTINUED);
            return sim.volume().rebuild(slot, options);
        }
        return null;
    }

    private void ended(BackgroundScan scan) {
        world.log.append('R');
        rebuild = null;
        if (scan.failure() == null) {
            world.tally.count(Event.REBUILD_DONE);
        } else if (scan.checkpoint() > 0) {
            world.tally.count(Event.REBUILD_FAILED);
        }
    }

    private Rebuild replace(int slot, ScanOptions options) {
        world.log.append('r');
        world.members.set(slot, world.newMember());
        world.uuids.set(slot, world.newUuid());
        sim.admit(slot, true);
        return sim.volume().replace(slot, world.members.get(slot), world.dataOffset(), options);
    }

    /** The previous member comes back, and gets what it missed. */
    private Rebuild readmit(int slot, ScanOptions options) {
        world.log.append('q');
        world.tally.count(Event.READMITTED);
        sim.uncover(slot);
        sim.admit(slot, false);
        var metadata = sim.metadata();
        IntentBitmap bitmap = metadata == null ? null : metadata.bitmap();
        if (bitmap == null) {
            throw world.failure("no bitmap");
        }
        return sim.volume().readmit(slot, world.members.get(slot), world.dataOffset(),
                () -> missed(bitmap), options);
    }

    private static StripeSet missed(IntentBitmap bitmap) {
        var missed = new BitSet();
        for (long at = bitmap.nextMarked(0); at >= 0; at = bitmap.nextMarked(at + 1)) {
            missed.set((int) at);
        }
        return from -> {
            int next = from > Integer.MAX_VALUE ? -1 : missed.nextSetBit((int) from);
            return next < 0 ? StripeSet.NONE : next;
        };
    }

    // --- the rest ---

    /** After each start. */
    BackgroundScan resync() {
        world.tally.count(Event.RESYNC);
        return sim.volume().resync(scanOptions());
    }

    Scrub scrub(boolean repairs) {
        scrubs++;
        return sim.volume().scrub(repairs, scanOptions().withOnEnd(scan -> {
            scrubs--;
            world.tally.count(Event.SCRUB);
            if (scan.failure() == null && ((Scrub) scan).skipped() == 0) {
                sim.sumsAreKnown();
            }
            world.require(((Scrub) scan).mismatches() == 0,
                    "a scrub has found " + ((Scrub) scan).mismatches() + " mismatches");
        }));
    }
}
