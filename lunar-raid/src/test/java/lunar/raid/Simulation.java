package lunar.raid;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Planner;
import lunar.raid.layout.Shape;
import lunar.raid.meta.Assembly;
import lunar.raid.meta.Assembly.Outcome;
import lunar.raid.meta.Candidate;
import lunar.raid.meta.Composition;
import lunar.raid.meta.Consent;
import lunar.raid.meta.Creation;
import lunar.raid.meta.IntentBitmap;
import lunar.raid.meta.VolumeMetadata;
import org.jspecify.annotations.Nullable;

/**
 * A volume on faulty members, in one thread, without a clock: a seed says what is asked of it, in which order members
 * have their effects, and what goes wrong with them, within what the level promises. Whatever was acknowledged must read
 * back, nothing may fail, and in the end all redundancy must be true. The same seed does the same again.
 *
 * <p>With metadata a crash may come while members are lost or rebuilt, or take one along; what a crash has torn and then
 * cannot be known is listed, and the host writes it again. Without, the volume's state is kept, and all else compared.
 */
final class Simulation {
    private static final int CHUNK_BLOCKS = 8;
    private static final int MAX_OPEN = 12;
    private static final int STALL_TICKS = 12;

    /** What may go wrong, beside requests that must be sent again. */
    record Faults(boolean losses, boolean crashes, boolean metadata) {}

    private final long seed;
    private final Random random;
    private final Faults faults;
    private final Layout layout;
    private final Planner planner;
    private final Expectation expected;
    private final List<SimMember> members = new ArrayList<>();
    private final List<Runnable> events = new ArrayList<>();
    /** Counts what has happened, so that two runs of a seed can be compared. */
    private final StringBuilder log = new StringBuilder();
    private final List<UUID> uuids = new ArrayList<>();
    /** Slots whose member may come back, with what it missed. */
    private long covered;
    /** Blocks that a crash has left without content, until they are written again. */
    private final BitSet unreadable = new BitSet();
    private @Nullable VolumeMetadata metadata;
    private RaidVolume volume;
    /** What is stable of the volume's state, and the members that it is about. */
    private VolumeState kept;
    private List<SimMember> keptMembers;
    private @Nullable Rebuild rebuild;
    private int walks;
    private int open;
    private int incarnation;
    private int made;
    private long lastTag;

    Simulation(Level level, long seed, Faults faults, UnaryOperator<Planner> wrapper) {
        this.seed = seed;
        this.faults = faults;
        random = new Random(seed);
        int count = level.minMembers() + random.nextInt(3);
        int rows = 2 + random.nextInt(5);
        layout = Layout.of(Shape.of(level, SimMember.BLOCK_BYTES, CHUNK_BLOCKS, count,
                (long) rows * CHUNK_BLOCKS));
        planner = wrapper.apply(Planner.of(layout));
        expected = new Expectation((int) layout.volumeBlocks());
        for (int slot = 0; slot < count; slot++) {
            members.add(newMember());
            members.get(slot).zero();
            uuids.add(newUuid());
        }
        volume = faults.metadata ? created() : volume(null);
        kept = volume.state();
        keptMembers = List.copyOf(members);
        Resync resync = volume.resync(walking());
        assertThat(resync.failure()).as(name()).isNull();
    }

    private UUID newUuid() { return new UUID(random.nextLong() | 1, random.nextLong()); }

    private SimMember newMember() {
        int blocks = (int) (layout.shape().memberBlocks().getFirst() + dataOffset());
        return new SimMember(made++, faults.metadata ? dataOffset() : 0, blocks, random);
    }

    /** With metadata a MiB, and one more for a journal. */
    private int dataOffset() {
        return faults.metadata ? layout.code().isParity() ? 4096 : 2048 : 3;
    }

    // --- metadata ---

    private RaidVolume created() {
        Level level = layout.shape().level();
        var given = new ArrayList<Creation.Member>();
        for (int slot = 0; slot < members.size(); slot++) {
            given.add(new Creation.Member("sim:" + slot, uuids.get(slot), members.get(slot)));
        }
        var wish = new Creation.Wish(newUuid(), "sim", 0, level, Creation.consistencyOf(level),
                layout.shape().chunkBytes(), 0, newUuid(), null);
        try {
            Creation.create(wish, given, true);
            return opened(composition(members, -1));
        } catch (StorageException e) {
            throw new AssertionError(name(), e);
        }
    }

    /** How the volume is put together of what can be reached; null where it cannot be. */
    private @Nullable Composition composition(List<SimMember> of, int lost) {
        var candidates = new ArrayList<Candidate>();
        for (int slot = 0; slot < of.size(); slot++) {
            candidates.add(of.get(slot).isGone || slot == lost
                    ? Candidate.unreachable("sim:" + slot, "gone")
                    : Candidate.of("sim:" + slot, of.get(slot)));
        }
        return Assembly.of(candidates,
                Consent.FORCED) instanceof Outcome.Assembled(Composition composition)
                        ? composition
                        : null;
    }

    private RaidVolume opened(@Nullable Composition composition) throws StorageException {
        assertThat(composition).as(name()).isNotNull();
        covered = composition.slotsOf(Composition.Use.STALE_COVERED);
        var devices = new ArrayList<@Nullable SimMember>();
        for (int slot = 0; slot < members.size(); slot++) {
            devices.add(composition.slots().get(slot).candidate() < 0 ? null : members.get(slot));
        }
        int mine = incarnation;
        VolumeMetadata opened = VolumeMetadata.open(composition, devices, null, (slot, why) -> {
            if (mine == incarnation) {
                volume.fail(slot, why);
            }
        });
        metadata = opened;
        return Raid.volume(layout, planner, opened.raidMembers(),
                options().withGuard(opened).withKeeper((state, done) -> opened.keep(state, why -> {
                    kept = state;
                    done.kept(why);
                })).withLost(opened.badBlocks())
                        .withStale(opened.stale()));
    }

    private RaidOptions options() {
        return RaidOptions.of(Identity.of("sim", new UUID(0, seed)))
                .withPolicy(new FailurePolicy(2, 1000, STALL_TICKS))
                .withStripeTasks(1 + random.nextInt(6));
    }

    private boolean hasNoContent(int block) {
        long stripe = block / layout.stripeBlocks();
        int unit = block % layout.stripeBlocks() / CHUNK_BLOCKS;
        return metadata != null && metadata.badBlocks().overlaps(layout.slot(stripe, unit),
                layout.memberBlock(stripe, unit) + block % CHUNK_BLOCKS, 1);
    }

    private RaidVolume volume(@Nullable VolumeState state) {
        var slots = new ArrayList<RaidMember>();
        for (int slot = 0; slot < members.size(); slot++) {
            SlotState is = state == null ? SlotState.ACTIVE : state.slots().get(slot);
            boolean isOther = state != null && !keptMembers.get(slot).equals(members.get(slot));
            slots.add(is == SlotState.FAILED || isOther || members.get(slot).isGone
                    ? RaidMember.missing()
                    : new RaidMember(members.get(slot), dataOffset(), is,
                            state == null ? 0 : state.rebuiltStripes().get(slot)));
        }
        int mine = incarnation;
        RaidOptions options = options()
                .withStale(state == null ? StripeSet.EMPTY : StripeSet.ALL)
                .withKeeper((next, done) -> {
                    List<SimMember> now = List.copyOf(members);
                    events.add(() -> {
                        if (mine == incarnation) {
                            kept = next;
                            keptMembers = now;
                            done.kept(null);
                        }
                    });
                });
        return Raid.volume(layout, planner, slots, options);
    }

    private String name() {
        return "seed %d, %s, %d members".formatted(seed, layout.shape().level(), members.size());
    }

    // --- the run ---

    /** Returns what has happened, in short. */
    String run(int steps) {
        for (int step = 0; step < steps; step++) {
            int what = random.nextInt(1000);
            if (what < 300) {
                if (open < MAX_OPEN) {
                    request();
                } else {
                    proceed();
                }
            } else if (what < 304 && faults.losses) {
                spoil();
            } else if (what < 308 && faults.losses) {
                lose();
            } else if (what < 320) {
                volume.tick();
                if (metadata != null) {
                    metadata.tick();
                }
            } else if (what < 330) {
                maintain();
            } else if (what < 334 && faults.crashes && mayCrash()) {
                crash();
            } else {
                proceed();
            }
        }
        finish();
        return log.toString();
    }

    private void proceed() {
        List<SimMember> able = new ArrayList<>();
        for (SimMember member : members) {
            if (member.hasPending()) {
                able.add(member);
            }
        }
        int choice = random.nextInt(able.size() + events.size() + 1);
        if (choice < able.size()) {
            able.get(choice).proceed(true);
        } else if (choice < able.size() + events.size()) {
            events.remove(choice - able.size()).run();
        }
    }

    /** Until nothing is under way. */
    private void drain() {
        for (int quiet = 0; quiet < 4 * STALL_TICKS;) {
            boolean isIdle = events.isEmpty() && members.stream().noneMatch(SimMember::hasPending);
            if (isIdle) {
                volume.tick();
                quiet++;
            } else {
                proceed();
                quiet = 0;
            }
        }
        assertThat(open).as("%s: requests that never end", name()).isZero();
    }

    // --- requests ---

    private void request() {
        int from = random.nextInt((int) layout.volumeBlocks());
        int longest = (int) layout.volumeBlocks() - from;
        int count = 1 + random.nextInt(
                random.nextInt(3) == 0 ? longest : Math.min(longest, CHUNK_BLOCKS));
        switch (random.nextInt(20)) {
            case 0 -> flush();
            case 1 -> zero(from, count, Operation.UNMAP);
            case 2 -> zero(from, count, Operation.WRITE_ZEROES);
            case 3 -> compareAndWrite(from,
                    Math.min(count, volume.limits().maxCompareAndWriteBlocks()));
            case 4, 5, 6, 7, 8, 9 -> read(from, count);
            default -> write(from, count);
        }
    }

    private MemorySegment data(int blocks) {
        return MemorySegment.ofArray(new byte[blocks * SimMember.BLOCK_BYTES]);
    }

    private interface End {
        void ended(@Nullable StorageException failure);
    }

    private void submit(BlockRequest request, End end) {
        open++;
        int mine = incarnation;
        String what = request.toString();
        volume.submit(request.onCompletion((_, failure) -> {
            if (mine == incarnation) { // else it was under way when the lights went out
                open--;
                log.append(what.charAt(0)).append(failure == null ? '.' : '!');
                end.ended(failure);
            }
        }));
    }

    private void requireGood(String what, @Nullable StorageException failure) {
        assertThat(failure).as("%s: %s", name(), what).isNull();
    }

    private void read(int from, int count) {
        MemorySegment data = data(count);
        Expectation.Access access = expected.beginRead(from, count);
        submit(new BlockRequest().asRead(from, count, data), failure -> {
            int lost = unreadable.nextSetBit(from);
            if (failure instanceof MediumException && lost >= 0 && lost < from + count) {
                expected.dropRead(access);
                return;
            }
            requireGood("read", failure);
            expected.endRead(access, data, name());
        });
    }

    private void write(int from, int count) {
        long tag = ++lastTag;
        boolean fua = random.nextInt(5) == 0;
        Expectation.Access access = expected.beginWrite(from, count, tag);
        submit(new BlockRequest().asWrite(from, count, Expectation.fill(data(count), tag), fua),
                failure -> {
                    requireGood("write", failure);
                    expected.endWrite(access, true, fua);
                    unreadable.clear(from, from + count);
                });
    }

    private void zero(int from, int count, Operation operation) {
        Expectation.Access access = expected.beginWrite(from, count, 0);
        BlockRequest request = operation == Operation.UNMAP
                ? new BlockRequest().asUnmap(from, count)
                : new BlockRequest().asWriteZeroes(from, count, false);
        submit(request, failure -> {
            requireGood("zeroes", failure);
            unreadable.clear(from, from + count);
            expected.endWrite(access, true, false);
        });
    }

    private void compareAndWrite(int from, int count) {
        long known = expected.known(from, count);
        if (known < 0) {
            return;
        }
        boolean differs = random.nextInt(3) == 0;
        long tag = ++lastTag;
        MemorySegment data = data(2 * count);
        long half = data.byteSize() / 2;
        Expectation.fill(data.asSlice(0, half), differs ? known + 1_000_000 : known);
        Expectation.fill(data.asSlice(half), tag);
        Expectation.Access access = expected.beginWrite(from, count, tag);
        submit(new BlockRequest().asCompareAndWrite(from, count, data, false), failure -> {
            if (differs || failure != null) { // or another write was faster
                assertThat(failure).as("%s: compare", name())
                        .isInstanceOf(MiscompareException.class);
                expected.endWrite(access, false, false);
            } else {
                expected.endWrite(access, true, false);
            }
        });
    }

    private void flush() {
        Expectation.Access access = expected.beginFlush();
        submit(new BlockRequest().asFlush(), failure -> {
            requireGood("flush", failure);
            expected.endFlush(access, true);
        });
    }

    // --- what goes wrong ---

    private long incomplete() {
        long set = 0;
        VolumeState state = volume.state();
        for (int slot = 0; slot < members.size(); slot++) {
            boolean isFine = state.slots().get(slot) == SlotState.ACTIVE
                    && isKept(slot)
                    && !members.get(slot).isGone && !members.get(slot).isStalled
                    && !members.get(slot).isTorn;
            set |= isFine ? 0 : 1L << slot;
        }
        return set;
    }

    private boolean isKept(int slot) {
        return metadata == null
                ? kept.slots().get(slot) == SlotState.ACTIVE
                : metadata.record().members().get(slot).state() == SlotState.ACTIVE;
    }

    /** Whether everything can be had without these slots, and in spite of what is bad on the others. */
    private boolean isWithinPromise(long lost) {
        if (volume.state().resyncedStripes() >= 0) {
            return false;
        }
        return isWithinPromise(members, lost);
    }

    private boolean isWithinPromise(List<SimMember> of, long lost) {
        if (!layout.survives(lost)) {
            return false;
        }
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            long unreadable = layout.units(stripe, lost);
            for (int unit = 0; unit < layout.units(); unit++) {
                SimMember member = of.get(layout.slot(stripe, unit));
                int at = (int) layout.memberBlock(stripe, unit) + dataOffset();
                int next = member.bad().nextSetBit(at);
                unreadable |= next >= 0 && next < at + CHUNK_BLOCKS ? 1L << unit : 0;
            }
            int redundancy = layout.code().isParity()
                    ? layout.units() - layout.dataUnits()
                    : layout.units() - 1;
            if (Long.bitCount(unreadable) > redundancy) {
                return false;
            }
        }
        return true;
    }

    private void spoil() {
        SimMember member = members.get(random.nextInt(members.size()));
        int from = dataOffset() + random.nextInt((int) member.blockCount() - dataOffset());
        int end = from + 1 + random.nextInt((int) Math.min(4, member.blockCount() - from));
        // First it is tried on paper.
        var before = (BitSet) member.bad().clone();
        member.bad().set(from, end);
        boolean isGood = isWithinPromise(incomplete());
        member.bad().clear();
        member.bad().or(before);
        if (isGood) {
            log.append('b');
            member.spoil(from, end);
        }
    }

    private void lose() {
        int slot = random.nextInt(members.size());
        if (!isWithinPromise(incomplete() | 1L << slot)) {
            return;
        }
        SimMember member = members.get(slot);
        switch (random.nextInt(4)) {
            case 0 -> {
                log.append('g');
                member.isGone = true;
            }
            case 1 -> {
                log.append('s');
                member.isStalled = metadata == null;
                member.isGone = metadata != null;
            }
            case 2 -> {
                log.append('f');
                covered |= metadata != null && metadata.bitmap() != null
                        && volume.state().slots().get(slot) == SlotState.ACTIVE ? 1L << slot : 0;
                volume.fail(slot, new DeviceGoneException("as somebody wants"));
            }
            default -> log.append(member.tear() ? 't' : '-');
        }
    }

    // --- what is done about it ---

    private void maintain() {
        switch (random.nextInt(4)) {
            case 0, 1 -> repair();
            case 2 -> {
                if (rebuild != null && random.nextBoolean()) {
                    rebuild.cancel();
                }
            }
            default -> {
                if (walks == 0) {
                    walks++;
                    scrub(random.nextBoolean());
                }
            }
        }
    }

    private WalkOptions walking() {
        return WalkOptions.DEFAULT.withBatch(1 + random.nextInt(4))
                .withSaveStripes(1 + random.nextInt(6))
                .withPace((_, goOn) -> {
                    int mine = incarnation;
                    events.add(() -> {
                        if (mine == incarnation) {
                            goOn.run();
                        }
                    });
                });
    }

    /** Puts a new member where one has failed, or goes on with a rebuild. */
    private void repair() {
        if (rebuild != null) {
            return;
        }
        VolumeState state = volume.state();
        for (int slot = 0; slot < members.size() && state.serving(); slot++) {
            WalkOptions options = walking().withOnEnd(_ -> {
                log.append('R');
                rebuild = null;
            });
            if (state.slots().get(slot) == SlotState.FAILED
                    && kept.slots().get(slot) == SlotState.FAILED) {
                rebuild = (covered >>> slot & 1) != 0
                        ? readmit(slot, options)
                        : replace(slot, options);
            } else if (state.slots().get(slot) == SlotState.REBUILDING) {
                rebuild = volume.rebuild(slot, options);
            }
            if (rebuild != null) {
                rebuild = rebuild.hasEnded() ? null : rebuild;
                return;
            }
        }
    }

    private Rebuild replace(int slot, WalkOptions options) {
        log.append('r');
        members.set(slot, newMember());
        uuids.set(slot, newUuid());
        admit(slot, true);
        return volume.replace(slot, members.get(slot), dataOffset(), options);
    }

    /** What was there before comes back, and gets what it missed. */
    private Rebuild readmit(int slot, WalkOptions options) {
        log.append('q');
        covered &= ~(1L << slot);
        admit(slot, false);
        IntentBitmap bitmap = metadata == null ? null : metadata.bitmap();
        assertThat(bitmap).isNotNull();
        return volume.readmit(slot, members.get(slot), dataOffset(), () -> {
            var missed = new BitSet();
            for (long at = bitmap.nextMarked(0); at >= 0; at = bitmap.nextMarked(at + 1)) {
                missed.set((int) at);
            }
            return from -> {
                int next = from > Integer.MAX_VALUE ? -1 : missed.nextSetBit((int) from);
                return next < 0 ? StripeSet.NONE : next;
            };
        }, options);
    }

    private void admit(int slot, boolean isNew) {
        if (metadata != null) {
            try {
                metadata.admit(slot, members.get(slot), uuids.get(slot), isNew);
            } catch (StorageException e) {
                throw new AssertionError(name(), e);
            }
        }
    }

    private Scrub scrub(boolean repairs) {
        return volume.scrub(repairs, walking().withOnEnd(walk -> {
            walks--;
            assertThat(((Scrub) walk).mismatches()).as("%s: mismatches", name()).isZero();
        }));
    }

    // --- crashes ---

    /** Without a journal a stripe that is half written and half lost is lost: so nothing may be lost before. */
    private boolean mayCrash() {
        if (metadata != null) {
            return volume.state().resyncedStripes() < 0;
        }
        return volume.state().resyncedStripes() < 0
                && (!layout.code().isParity() || (incomplete() == 0
                        && members.stream().allMatch(member -> member.bad().isEmpty())))
                && isWithinPromise(incomplete());
    }

    private void crash() {
        if (metadata != null) {
            crashWithMetadata();
            return;
        }
        forget();
        for (int slot = 0; slot < members.size(); slot++) {
            boolean isGone = members.get(slot).isGone || members.get(slot).isStalled
                    || !keptMembers.get(slot).equals(members.get(slot));
            members.set(slot, members.get(slot).afterCrash());
            members.get(slot).isGone = isGone;
        }
        keptMembers = List.copyOf(members);
        volume = volume(kept);
        kept = volume.state();
        Resync resync = volume.resync(walking());
        assertThat(resync.failure()).as("%s: resync", name()).isNull();
    }

    private void forget() {
        log.append('C');
        incarnation++;
        expected.crash();
        events.clear();
        open = 0;
        walks = 0;
        rebuild = null;
    }

    /** At times a member is lost with it. Where more would be lost than the level promises, it does not happen. */
    private void crashWithMetadata() {
        List<SimMember> images = members.stream().map(SimMember::afterCrash).toList();
        int lost = faults.losses && random.nextInt(3) == 0 ? random.nextInt(images.size()) : -1;
        Composition composition = composition(images, lost);
        if (composition == null) {
            return;
        }
        // A member that was given up does not know: the others tell, and if they are lost it passes for good.
        long missing = Layout.all(images.size()) & ~composition.inSync();
        for (int slot = 0; slot < images.size(); slot++) {
            missing |= kept.slots().get(slot) == SlotState.FAILED ? 1L << slot : 0;
        }
        boolean isGood = layout.code().isParity()
                ? images.stream().allMatch(member -> member.bad().isEmpty())
                : true;
        if (!isGood || !isWithinPromise(images, missing)) {
            return;
        }
        forget();
        members.clear();
        members.addAll(images);
        for (int slot = 0; slot < members.size(); slot++) {
            members.get(slot).isGone |= slot == lost;
        }
        try {
            volume = opened(composition);
            kept = volume.state();
        } catch (StorageException e) {
            throw new AssertionError(name(), e);
        }
        unreadable.clear();
        for (int block = 0; block < layout.volumeBlocks(); block++) {
            if (hasNoContent(block)) {
                assertThat(expected.isUnsettled(block)).as("%s: block %d is lost", name(), block)
                        .isTrue();
                unreadable.set(block);
            }
        }
        for (int block = unreadable.nextSetBit(0); block >= 0; block = unreadable
                .nextSetBit(block + 1)) {
            log.append('x');
            write(block, 1);
        }
        volume.resync(walking());
    }

    // --- the end ---

    private void finish() {
        drain();
        readAll();
        for (int i = 0; i < 3 * members.size() && !volume.state().isWhole(); i++) {
            repair();
            drain();
        }
        assertThat(volume.state().isWhole()).as("%s: %s", name(), volume.state()).isTrue();
        readAll();
        if (layout.shape().level().isRedundant()) {
            Scrub scrub = scrub(true); // brings back what is bad
            walks++;
            drain();
            assertThat(scrub.hasEnded()).isTrue();
            assertThat(scrub.skipped()).as("%s: skipped", name()).isZero();
            loseAsMuchAsCanBe();
            readAll();
        }
        volume.tick();
    }

    private void loseAsMuchAsCanBe() {
        for (int slot : random.ints(0, members.size()).limit(20).toArray()) {
            if (isWithinPromise(incomplete() | 1L << slot)) {
                volume.fail(slot, new DeviceGoneException("at the end"));
                drain();
            }
        }
    }

    private void readAll() {
        for (int from = 0; from < layout.volumeBlocks(); from += 16) {
            read(from, (int) Math.min(16, layout.volumeBlocks() - from));
        }
        drain();
    }
}
