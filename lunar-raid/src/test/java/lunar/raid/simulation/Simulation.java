package lunar.raid.simulation;

import java.util.List;
import java.util.SplittableRandom;
import lunar.raid.BackgroundScan;
import lunar.raid.Scrub;
import lunar.raid.VolumeState;
import lunar.raid.layout.Level;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.simulation.EventCounts.Event;

/**
 * A volume on faulty members, in one thread, without a clock: a seed says what is asked of it, in which order members
 * have their effects, and what goes wrong with them, within what the level promises. Whatever was acknowledged must
 * read back, nothing may fail, and in the end all redundancy must be true. The same seed does the same again. Where the
 * faults say so, more blocks become unreadable than the level survives: reads of these may fail, and of no others, and
 * so may changes in their stripes, which may have to read them ({@link ExcessLossCheck}).
 *
 * <p>With metadata a crash may come while members are lost or rebuilt, or take one along; what a crash has torn and
 * then cannot be known is listed, and the host writes it again. Without, the volume's state is kept, and all else
 * compared.
 */
final class Simulation {
    private static final int STEPS = 1500;
    /** Steps until nothing is under way; thousands are usual. More than this, and something goes round in a circle. */
    private static final int MAX_DRAIN_STEPS = 2_000_000;
    /** How often each level is played where the seed chooses: by its share of the ways to go wrong. */
    private static final Level[] LEVELS = {Level.LINEAR, Level.RAID0, Level.RAID1, Level.RAID1,
            Level.RAID10, Level.RAID10, Level.RAID5, Level.RAID5, Level.RAID5, Level.RAID6,
            Level.RAID6, Level.RAID6};

    private static final Level[] TURNING = {Level.RAID0, Level.RAID5, Level.RAID5, Level.RAID6,
            Level.RAID6, Level.RAID10, Level.RAID10};
    private static final Level[] REDUNDANT = {Level.RAID1, Level.RAID10, Level.RAID5, Level.RAID6};

    /** Of those of copies, one in so many has no intent bitmap. */
    private static final int WITHOUT_BITMAP = 4;

    /** Members of one seed in so many are too busy at times; the others do what they did. */
    private static final int BUSY = 4;

    private final SimWorld world;
    private final SimVolume sim;
    private final SimHost host;
    private final SimFaults faults;
    private final ExcessLossCheck beyond;
    private final SimOperator operator;
    private final MediaCheck media;
    private final SimGrowth growth;
    private boolean grows;
    /** The member request after which a crash comes; -1 where none is wanted. */
    private long crashAt = -1;

    Simulation(Level level, long seed, Faults what, Rules rules) {
        world = new SimWorld(level, seed, what);
        sim = new SimVolume(world, rules);
        faults = new SimFaults(world, sim);
        beyond = new ExcessLossCheck(world, faults::incomplete);
        host = new SimHost(world, sim, beyond);
        operator = new SimOperator(world, sim);
        media = new MediaCheck(world);
        growth = new SimGrowth(world, sim);
        resync();
    }

    /** The simulation of a seed, which says the level and the kinds of faults, too. */
    static Simulation of(long seed) {
        return of(seed, true);
    }

    /** Plays a simulation without checksums. */
    static Simulation withoutChecksums(long seed) {
        return of(seed, false);
    }

    private static Simulation of(long seed, boolean mayHaveChecksums) {
        var choice = new SplittableRandom(~seed);
        Level level = LEVELS[choice.nextInt(LEVELS.length)];
        int kind = choice.nextInt(4);
        boolean checksums = mayHaveChecksums && kind > 1 && level.isRedundant()
                && choice.nextInt(3) == 0;
        return new Simulation(level, seed,
                new Faults(level.isRedundant(), kind > 0, kind > 1, checksums)
                        .withCaches(mayHaveChecksums && mayLoseCaches(level, seed))
                        .withUnreadable(mayHaveChecksums && mayBeUnreadable(level, seed)),
                Rules.RIGHT);
    }

    /** In a half of all; drawn apart, so that the others do what they did before there was such a fault. */
    private static boolean mayLoseCaches(Level level, long seed) {
        return level.isRedundant() && new SplittableRandom(31 * seed).nextBoolean();
    }

    /** In a half of all with parity; drawn apart like these. */
    private static boolean mayBeUnreadable(Level level, long seed) {
        return level.hasParity() && new SplittableRandom(37 * seed).nextBoolean();
    }

    /** A crash comes right after so many member requests. */
    Simulation crashingAt(long memberRequests) {
        crashAt = memberRequests;
        return this;
    }

    /** The simulation of a seed, with a volume that gets members more, and moves its blocks for that. */
    static Simulation growing(long seed) {
        Level level = TURNING[new SplittableRandom(~seed).nextInt(TURNING.length)];
        return growing(level, seed, Rules.RIGHT, mayLoseCaches(level, seed));
    }

    /** The simulation of a seed, on members of which more is lost than the level survives. */
    static Simulation beyondPromise(long seed) {
        var choice = new SplittableRandom(~seed);
        Level level = REDUNDANT[choice.nextInt(REDUNDANT.length)];
        return new Simulation(level, seed,
                new Faults(true, choice.nextInt(3) > 0, true).withExcess()
                        .withCaches(choice.nextBoolean()),
                Rules.RIGHT);
    }

    static Simulation growing(Level level, long seed, Rules rules) {
        return growing(level, seed, rules, false);
    }

    private static Simulation growing(Level level, long seed, Rules rules, boolean caches) {
        boolean bitmap = level != Level.RAID10
                || new SplittableRandom(-seed).nextInt(WITHOUT_BITMAP) > 0;
        var simulation = new Simulation(level, seed,
                new Faults(level.isRedundant(), true, true, false, bitmap).withCaches(caches),
                rules);
        simulation.grows = true;
        return simulation;
    }

    /** How often what has happened. */
    EventCounts tally() { return world.tally; }

    /** Runs as long as one usually does, and returns what has happened, in short. */
    String run() {
        return run(STEPS);
    }

    String run(int steps) {
        for (int step = 0; step < steps; step++) {
            step(world.random.nextInt(1000));
            world.check();
            beyond.update();
        }
        if (world.faults.losses() && faults.mayCollapse()) {
            collapse();
        }
        finish();
        world.check();
        world.tally.count(Event.RUN);
        return world.log.toString();
    }

    private void step(int what) {
        Faults may = world.faults;
        if (what < 300 && host.mayAsk()) {
            host.request();
        } else if (what >= 300 && what < 304 && may.losses()) {
            faults.spoil();
        } else if (what >= 334 && what < 338 && may.checksums() && world.verifies) {
            faults.rot();
        } else if (what >= 304 && what < 308 && may.losses()) {
            faults.lose();
        } else if (what >= 940 && what < 944 && may.caches()) {
            faults.loseCache();
        } else if (what >= 944 && what < 950 && may.caches()) {
            faults.cutOff();
        } else if (what >= 950 && what < 960 && may.caches()) {
            faults.landLate();
        } else if (what >= 988 && what < 994 && may.excess()) {
            faults.spoil();
        } else if (what == 999 && world.seed % BUSY == 3) {
            faults.makeBusy();
        } else if (what >= 308 && what < 320) {
            sim.tick();
        } else if (what >= 320 && what < 330 && !growth.isPausing()) {
            operator.maintain();
        } else if (what >= 330 && what < 334 && may.crashes() && crashAt < 0) {
            crash();
        } else if (grows && what >= 960 && what < 980) {
            growth.proceed();
        } else if (growth.isReshaping() && what >= 980 && what < 988 && crashAt < 0) {
            crash();
        } else if (what >= 334 && what < 334 + world.metadataTicks) {
            sim.tickMetadata();
        } else {
            proceed();
        }
    }

    private void proceed() {
        world.proceed();
        beyond.update();
        if (world.tally.of(Event.MEMBER_REQUEST) == crashAt) {
            world.tally.count(Event.MEMBER_REQUEST); // once only
            crash();
        }
    }

    /** Until nothing is under way. */
    private void drain() {
        int steps = 0;
        for (int quiet = 0; quiet < 4 * SimVolume.STALL_TICKS;) {
            world.require(steps++ < MAX_DRAIN_STEPS, "the volume does not come to rest");
            if (world.isIdle()) {
                sim.volume().tick();
                quiet++;
            } else {
                proceed();
                quiet = 0;
            }
        }
        world.require(host.open() == 0, host.open() + " requests never end");
    }

    private void forget() {
        world.crash();
        host.crash();
        operator.crash();
        growth.crash();
    }

    /** Members are lost one after the other, amid requests, until the volume fails: all of these end. */
    private void collapse() {
        List<SimMember> givenUp = faults.givenUp();
        world.isCollapsing = true;
        for (int i = 0; i < world.members.size(); i++) {
            for (int steps = world.random.nextInt(40); steps > 0; steps--) {
                if (host.mayAsk() && world.random.nextInt(3) == 0) {
                    host.request();
                } else {
                    proceed();
                }
            }
            faults.loseOneMore();
        }
        drain();
        faults.bringBack(givenUp, this::forget);
        world.isCollapsing = false;
        recovered();
    }

    private void crash() {
        if (faults.crash(this::forget)) {
            recovered();
        }
    }

    private void recovered() {
        if (world.layout.shape().level().hasParity() && world.faults.metadata()
                && isWholeOnMembers()) {
            requireTrueRedundancy();
        }
        host.rewriteLost();
        resync();
    }

    private void requireTrueRedundancy() {
        ReshapeMap map = sim.map();
        if (map == null) {
            media.requireTrueRedundancyOfTheReadable("after a crash");
        } else {
            media.requireTrueRedundancy(map, sim.movedRows(), "after a crash");
        }
    }

    private void resync() {
        BackgroundScan resync = operator.resync();
        if (resync.failure() != null) {
            throw world.failure("a resync failed", resync.failure());
        }
    }

    private boolean isWholeOnMembers() {
        VolumeMetadata metadata = sim.metadata();
        return metadata != null && metadata.record().isWhole()
                && sim.volume().state().isWhole() && faults.incomplete() == 0;
    }

    // --- the end ---

    private void finish() {
        crashAt = -1;
        drain();
        if (world.faults.caches()) {
            host.flush(); // members that have lost their cache are found out
            drain();
        }
        writeStripesBeyondPromise();
        readAll();
        for (int i = 0; i < 3 && sim.volume().isReshaping(); i++) {
            growth.goOn();
            drain();
        }
        world.require(!sim.volume().isReshaping(), "not reshaped at the end");
        world.require(!growth.isPausing(), "the volume does not come to rest");
        for (int i = 0; i < 3 * world.members.size() && !sim.volume().state().isWhole(); i++) {
            operator.repair();
            drain();
        }
        VolumeState state = sim.volume().state();
        world.require(state.isWhole(), "not whole at the end: " + state);
        writeStripesBeyondPromise();
        world.require(beyond.next(0) < 0, "something is lost that has been written");
        readAll();
        if (world.layout.shape().level().isRedundant()) {
            Scrub scrub = operator.scrub(true); // brings back what is bad
            drain();
            world.require(scrub.hasEnded() && scrub.skipped() == 0,
                    "the last scrub has skipped " + scrub.skipped() + " stripes");
            media.requireTrueRedundancy("at the end");
            if (world.faults.checksums()) {
                rotAndScrub();
            }
            faults.loseAsMuchAsCanBe(this::drain);
            readAll();
        }
        sim.volume().tick();
    }

    private void writeStripesBeyondPromise() {
        if (world.faults.excess()) {
            host.writeStripesBeyondPromise();
            drain();
            host.flush();
            drain();
            beyond.update();
        }
    }

    /** Whichever side is wrong, a scrub tells. */
    private void rotAndScrub() {
        faults.rot();
        Scrub scrub = operator.scrub(world.random.nextBoolean());
        drain();
        world.require(scrub.hasEnded() && scrub.skipped() == 0,
                "a scrub of what was rotten has skipped " + scrub.skipped() + " stripes");
        host.flush();
        drain();
        media.requireTrueRedundancy("after bits have changed");
        media.requireTrueSums("after bits have changed");
    }

    private void readAll() {
        host.readAll();
        drain();
    }

    @Override
    public String toString() { return world.toString(); }
}
