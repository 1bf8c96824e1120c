package lunar.raid.simulation;

import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.ScanOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Growth;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.simulation.EventCounts.Event;
import org.jspecify.annotations.Nullable;

/** Gives the volume of a simulation a member more, and goes on with what comes of that until all is moved. */
final class SimGrowth {
    private static final int MAX_GROWTHS = 3;

    private final SimWorld world;
    private final SimVolume sim;
    private @Nullable BackgroundScan reshape;
    private int growths;
    private boolean isPausing;

    SimGrowth(SimWorld world, SimVolume sim) {
        this.world = world;
        this.sim = sim;
    }

    void crash() {
        if (reshape != null) {
            world.tally.count(Event.RESHAPE_CRASHED);
        }
        reshape = null;
        isPausing = false;
    }

    /** Nothing else may be done with the volume then. */
    boolean isPausing() { return isPausing; }

    boolean isReshaping() { return sim.volume().isReshaping(); }

    /** Begins a growth where that may be now, goes on with the one that there is, or stops it for a time. */
    void proceed() {
        if (isReshaping()) {
            if (reshape == null) {
                goOn();
            } else if (world.random.nextInt(8) == 0) {
                reshape.cancel();
            }
        } else if (!isPausing && growths < MAX_GROWTHS && sim.volume().state().isWhole()) {
            grow();
        }
    }

    /** A scan over all that is not moved yet. */
    void goOn() {
        if (reshape != null) {
            return;
        }
        ScanOptions options = ScanOptions.DEFAULT.withBatch(1 + world.random.nextInt(4))
                .withPace((_, goOn) -> world.later(goOn)).withOnEnd(this::ended);
        try {
            BackgroundScan begun = sim.volume().reshape(options);
            reshape = begun.hasEnded() ? null : begun;
        } catch (IllegalStateException _) {
            // Another scan is under way.
        }
    }

    private void ended(BackgroundScan scan) {
        world.log.append('M');
        reshape = null;
        if (scan.failure() == null) {
            world.tally.count(Event.RESHAPE_DONE);
        }
    }

    private void grow() {
        VolumeMetadata metadata = sim.metadata();
        Level level = world.layout.shape().level();
        if (metadata == null || level == Level.LINEAR || level == Level.RAID1) {
            return;
        }
        int mine = world.incarnation;
        try {
            sim.volume().pause(() -> metadata.pause(_ -> {
                if (mine == world.incarnation) {
                    grown(metadata);
                }
            }));
            isPausing = true;
        } catch (IllegalStateException _) {
            // A scan is under way.
        }
    }

    /** All stands still. */
    private void grown(VolumeMetadata metadata) {
        isPausing = false;
        SimMember member = world.newMember();
        try {
            Growth.check(metadata, "sim:new", member);
        } catch (StorageException _) { // a slot has failed meanwhile, or blocks are lost
            metadata.resume();
            sim.volume().resume();
            return;
        }
        world.log.append('G');
        world.tally.count(Event.GROWN);
        world.tally.count(Event.GROWN_RAID10,
                world.layout.shape().level() == Level.RAID10 ? 1 : 0);
        growths++;
        world.members.add(member);
        world.uuids.add(world.newUuid());
        sim.grow(metadata);
    }
}
