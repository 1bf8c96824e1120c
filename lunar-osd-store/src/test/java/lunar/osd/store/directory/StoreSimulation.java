package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import lunar.block.LostWritesException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.wire.ObjectId;

/**
 * A store on a {@link SimulatedMedium}: several clients change it in turns by random scripts, each in its partition,
 * with rounds of what the store does in the background between them. Some I/O fails, the process is killed before any
 * step of I/O, or power is lost. The next start has to find what was acknowledged, or flushed after a power loss, and
 * the step in flight entirely or not at all. Depends on nothing but the seed.
 */
final class StoreSimulation {
    private static final int CLIENTS = 3;
    private static final int STARTS = 3;
    private static final int STEPS = 24;
    /** The share of simulations that compare with a store in memory: one in so many. */
    private static final int IN_MEMORY = 8;

    /** The end of a process. */
    private enum End {
        CLOSE, KILL, POWER_LOSS
    }

    private final Random random;
    private final boolean inMemory;
    private final Path folder;
    private final Map<String, Integer> events = new TreeMap<>();
    /** Events in their order, for the report of a failure. */
    private final List<String> history = new ArrayList<>();
    /** State that was acknowledged, of each client. */
    private final List<PartitionModel> models = new ArrayList<>();
    private final StableState stable = new StableState();
    private ObjectStore memory = ObjectStores.inMemory();
    private SimulatedMedium medium;
    private DirectoryObjectStore store;
    private boolean everyChange;
    /** Whether the store may refuse to grow. */
    private boolean full;
    private int directories;
    /** The client whose step is in flight, if one is; then its model has the state after it. */
    private int inFlight;
    private long inFlightInPlace;
    private PartitionModel before = new PartitionModel(0);

    StoreSimulation(long seed, Path folder) {
        this.random = new Random(seed);
        this.inMemory = seed % IN_MEMORY == 0;
        this.folder = folder;
        for (int i = 0; i < CLIENTS; i++) {
            models.add(new PartitionModel(CrashWriter.FIRST + i));
        }
    }

    /** Returns how often each kind of event has happened. */
    Map<String, Integer> events() {
        return events;
    }

    private void count(String event) {
        events.merge(event, 1, Integer::sum);
        history.add(event);
    }

    private void check(boolean condition, String what, Object found) {
        if (!condition) {
            throw new AssertionError(what + ": " + found + "\n" + String.join("\n", history));
        }
    }

    void run() throws IOException {
        Path path = Files.createDirectory(folder.resolve("0"));
        medium = new SimulatedMedium(path, random);
        stable.reset(models);
        for (int start = 0; start < STARTS; start++) {
            path = start(path);
        }
        delete(path);
    }

    /** Starts a store, uses it until it ends, and returns the directory that the next start finds. */
    private Path start(Path path) throws IOException {
        everyChange = random.nextInt(4) == 0;
        End end = End.values()[random.nextInt(End.values().length)];
        if (end != End.CLOSE) {
            medium.endAt(1 + random.nextInt(1 << 2 + random.nextInt(11)));
        }
        if (random.nextInt(3) == 0) {
            medium.failAt(1 + random.nextInt(1 << 4 + random.nextInt(8)), 1 + random.nextInt(3));
        }
        inFlight = -1;
        stable.beginStep(models);
        boolean opened = false;
        try {
            open();
            opened = true;
            play();
        } catch (SimulatedMedium.Ended _) {
            count("ended before a step");
            stable.endStep(models, medium.takeStableCommit(), false); // the start, or a step
        }
        count(end.name());
        Path next = path;
        boolean keptLater = false;
        if (end == End.CLOSE) {
            closeStably();
            medium = new SimulatedMedium(path, medium);
        } else {
            medium.endAt(0);
            next = folder.resolve("" + ++directories);
            medium.image(next, end == End.POWER_LOSS);
            keptLater = medium.hasKeptLater();
            if (keptLater) {
                count("power loss after commits that were not stable");
            }
            if (opened) {
                close();
            }
            delete(path);
            medium = end == End.KILL
                    ? new SimulatedMedium(next, medium)
                    : new SimulatedMedium(next, random);
        }
        verify(next, end, keptLater);
        if (end == End.POWER_LOSS) {
            stable.reset(models);
        }
        return next;
    }

    /** Opens the store; again if that fails because some I/O does. */
    private void open() throws IOException {
        for (;;) {
            medium.takeFailed();
            try {
                store = DirectoryObjectStore.open(medium.directory(),
                        new StoreOptions(true, everyChange));
                return;
            } catch (IOException e) {
                if (!medium.takeFailed()) {
                    throw e;
                }
                count("start failed");
            }
        }
    }

    private void closeStably() {
        stable.beginStep(models);
        boolean closed = close();
        if (closed) {
            models.forEach(each -> each.objects.values().forEach(item -> item.settled = true));
        }
        stable.endStep(models, medium.takeStableCommit(), closed);
    }

    /** Closes the store; false if that has failed. */
    private boolean close() {
        try {
            store.close();
            return true;
        } catch (SimulatedMedium.Ended _) { // it has before
            assert medium.hasEnded();
        } catch (StorageException e) {
            check(medium.takeFailed() || e instanceof LostWritesException, "close", e);
        }
        return false;
    }

    private void play() throws IOException {
        memory = ObjectStores.inMemory();
        for (PartitionModel each : models) {
            remember(each);
        }
        if (random.nextBoolean()) {
            medium.quiet(true);
            store.flush();
            models.forEach(each -> each.objects.values().forEach(item -> item.settled = true));
            stable.endStep(models, medium.takeStableCommit(), true);
            medium.quiet(false);
        }
        for (int i = 0; i < STEPS; i++) {
            medium.takeFailed();
            stable.beginStep(models);
            if (random.nextInt(6) == 0) {
                maintain();
            } else {
                step(random.nextInt(CLIENTS));
            }
        }
        if (inMemory) {
            for (PartitionModel each : models) {
                List<String> wrong = PartitionModel.read(memory, each.partition).differences(each);
                check(wrong.isEmpty(), "store in memory", wrong);
            }
        }
    }

    private void maintain() {
        try {
            store.maintain();
        } catch (StorageException e) {
            check(medium.takeFailed() || e instanceof LostWritesException, "maintenance", e);
        }
        stable.endStep(models, medium.takeStableCommit(), false);
        history.add("maintenance");
    }

    private void step(int client) throws IOException {
        PartitionModel model = models.get(client);
        before = model.copy();
        ScriptStep step = ScriptStep.next(random, model);
        count(step.name());
        history.set(history.size() - 1, "client " + client + ": " + step.name()
                + (step.inPlace() == 0 ? "" : " of " + step.inPlace()));
        inFlight = client;
        inFlightInPlace = step.inPlace();
        StorageException failure = null;
        try {
            step.call().on(store);
            if (inMemory) {
                step.call().on(memory);
            }
        } catch (StorageException e) {
            full |= e instanceof NoSpaceException;
            check(medium.takeFailed() || e instanceof LostWritesException
                    || (full && e instanceof NoSpaceException), step.name(), e);
            failure = e;
        } finally {
            step.model().run(); // also if the process has ended: it may have had effect
        }
        stable.endStep(models, medium.takeStableCommit(),
                failure == null && (everyChange || step.name().equals("flush")));
        if (failure != null) {
            resolve(step, failure);
        }
        inFlight = -1;
    }

    /** Finds out whether a step that has failed had effect. */
    private void resolve(ScriptStep step, StorageException failure) throws IOException {
        count("failed");
        medium.quiet(true);
        if (failure instanceof LostWritesException) { // nothing is flushed any longer
            count("started again after lost writes");
            close();
            open();
        }
        PartitionModel after = models.get(inFlight);
        PartitionModel found = PartitionModel.read(store, after.partition);
        List<String> wrong = found.differences(before, after, step.inPlace());
        check(wrong.isEmpty(), step.name() + " that failed with " + failure, wrong);
        models.set(inFlight, found);
        remember(found);
        medium.quiet(false);
    }

    /** Makes the store in memory have this state of a partition. */
    private void remember(PartitionModel model) throws StorageException {
        if (!inMemory) {
            return;
        }
        ObjectId home = ObjectId.ofPartition(model.partition);
        memory.change(objects -> {
            if (objects.find(home).isPresent()) {
                objects.remove(home);
            }
            return true;
        });
        model.writeTo(memory);
    }

    /** Compares what is found at the next start with what has to be. */
    private void verify(Path image, End end, boolean keptLater) throws IOException {
        Path path = folder.resolve("copy"); // as recovery and close make it stable
        SimulatedMedium.copy(image, path, List.of());
        try (DirectoryObjectStore found = DirectoryObjectStore.open(new StoreDirectory(path),
                StoreOptions.CREATE)) {
            List<String> problems = found.check();
            check(problems.isEmpty(), end + ", check", problems);
            for (int i = 0; i < CLIENTS; i++) {
                PartitionModel model = models.get(i);
                PartitionModel is = PartitionModel.read(found, model.partition);
                List<String> wrong = end == End.POWER_LOSS
                        ? stable.differences(i, is, keptLater)
                        : i == inFlight
                                ? is.differences(before, model, inFlightInPlace)
                                : is.differences(model);
                check(wrong.isEmpty(), end + ", partition " + i, wrong);
                models.set(i, is);
            }
        }
        try (Stream<Path> all = Files.walk(path.resolve("data"))) {
            long files = all.filter(Files::isRegularFile).count();
            check(files <= models.stream().mapToInt(each -> each.objects.size()).sum(),
                    end + ", files", files);
        }
        delete(path);
    }

    private static void delete(Path path) throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(each);
            }
        }
    }
}
