package lunar.bench.filter;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lunar.bench.filter.FilterLoad.Pattern;
import lunar.bench.filter.FilterLoad.Place;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.filter.CachePolicy;
import lunar.filter.RequestScheduler;
import lunar.filter.ScheduleFilter;
import lunar.filter.ScheduleOptions;

/**
 * A benchmark case: a device, its load, and filters that are compared with no filter.
 *
 * @param pays whether a filter is expected to pay
 */
record FilterCase(String name, boolean pays, Base base, Pattern pattern, List<Variant> variants) {
    private static final long CACHE_BYTES = 8 << 20;
    private static final String DEVICE = "ram:64MiB";
    private static final String FAR = "delay=1ms+200us:" + DEVICE;
    private static final int PAGE = 4096;

    /** Opens what the filters are over. */
    @FunctionalInterface
    interface Base {
        BlockDevice open() throws StorageException;
    }

    /** Puts a filter over a device. */
    @FunctionalInterface
    interface Over {
        BlockDevice put(BlockDevice below);
    }

    /** A filter under its name. */
    record Variant(String name, Over filter) {
        static final Variant NONE = new Variant("no filter", below -> below);

        private static Variant cache(String name, CacheOptions options) {
            return new Variant(name, below -> new CacheFilter(below, options));
        }

        private static Variant schedule(String name, ScheduleOptions options) {
            return new Variant(name, below -> new ScheduleFilter(below, options));
        }
    }

    private static FilterCase of(String name, boolean pays, String uri, Pattern pattern,
            Variant... variants) {
        return of(name, pays, () -> Devices.open(uri), pattern, variants);
    }

    private static FilterCase of(String name, boolean pays, Base base, Pattern pattern,
            Variant... variants) {
        var all = new ArrayList<>(List.of(Variant.NONE));
        all.addAll(Arrays.asList(variants));
        return new FilterCase(name, pays, base, pattern, List.copyOf(all));
    }

    /**
     * All of them.
     *
     * @param lun URI of a LUN of at least 64 MiB
     * @param directory where a file may be made
     */
    static List<FilterCase> all(String lun, Path directory) {
        var all = new ArrayList<>(caches(lun));
        all.addAll(schedulers(lun, directory));
        return all;
    }

    private static List<FilterCase> caches(String lun) {
        CacheOptions plain = CacheOptions.of(CACHE_BYTES).withReadAheadBytes(0);
        Variant s3 = Variant.cache("s3-fifo", plain);
        Variant lru = Variant.cache("lru", plain.withPolicy(CachePolicy.lru()));
        Variant ahead = Variant.cache("read-ahead 512 KiB", CacheOptions.of(CACHE_BYTES));
        Pattern zipf = Pattern.reads(Place.ZIPF, PAGE, 4);
        Pattern sequential = Pattern.reads(Place.SEQUENTIAL, 16 << 10, 1);
        return List.of(
                of("cache: 4 KiB zipf reads, 1 ms away, depth 4", true, FAR, zipf, lru, s3),
                of("cache: the same beside a scan", true, FAR, zipf.besideAScan(), lru, s3),
                of("cache: 16 KiB sequential reads, 1 ms away, depth 1", true, FAR, sequential, s3,
                        Variant.cache("read-ahead 64 KiB", plain.withReadAheadBytes(64 << 10)),
                        ahead),
                of("cache: 4 KiB zipf reads of a LUN, depth 4", true, lun, zipf, lru, s3),
                of("cache: 16 KiB sequential reads of a LUN, depth 1", true, lun, sequential, s3,
                        ahead),
                of("cache: 4 KiB uniform reads, 1 ms away, depth 4", false, FAR,
                        Pattern.reads(Place.UNIFORM, PAGE, 4), s3),
                of("cache: 4 KiB uniform writes, 1 ms away, depth 4", false, FAR,
                        Pattern.writes(Place.UNIFORM, PAGE, 4), s3),
                of("cache: 4 KiB zipf reads of memory, depth 1", false, DEVICE,
                        Pattern.reads(Place.ZIPF, PAGE, 1), s3));
    }

    private static List<FilterCase> schedulers(String lun, Path directory) {
        ScheduleOptions fifo = ScheduleOptions.of(RequestScheduler.fifo());
        ScheduleOptions elevator = ScheduleOptions
                .of(RequestScheduler.elevator(ScheduleOptions.DEFAULT_DEADLINE)).withDepth(1);
        Variant merging = Variant.schedule("fifo, merge 128 KiB", fifo.withMergeBytes(128 << 10));
        Variant queue = Variant.schedule("fifo", fifo);
        Pattern append = Pattern.writes(Place.SEQUENTIAL, PAGE, 32);
        String file = "file:" + directory.resolve("filters.img") + "?size=64MiB&io=sync";
        return List.of(
                of("schedule: 4 KiB uniform reads of a disk with an arm (model), depth 32", true,
                        () -> new DiskModel(Devices.open("ram:16GiB")),
                        Pattern.reads(Place.UNIFORM, PAGE, 32),
                        Variant.schedule("fifo, depth 1", fifo.withDepth(1)),
                        Variant.schedule("elevator, depth 1", elevator),
                        Variant.schedule("elevator, depth 1, 100 ms", new ScheduleOptions(
                                RequestScheduler.elevator(Duration.ofMillis(100)), 1, 0))),
                of("schedule: 4 KiB sequential writes, 2000 requests/s, depth 32", true,
                        "throttle=2000iops:" + DEVICE, append, queue, merging),
                of("schedule: 4 KiB sequential writes to a file, io=sync, depth 32", true, file,
                        append, queue, merging),
                of("schedule: 4 KiB sequential reads of a LUN, depth 32", true, lun,
                        Pattern.reads(Place.SEQUENTIAL, PAGE, 32), queue, merging),
                of("schedule: 4 KiB sequential writes, 16 MiB/s, depth 32", false,
                        "throttle=16MiB:" + DEVICE, append, queue, merging),
                of("schedule: 4 KiB uniform reads, 1 ms away, depth 32", false, FAR,
                        Pattern.reads(Place.UNIFORM, PAGE, 32), queue,
                        Variant.schedule("elevator, depth 32", elevator.withDepth(32))),
                of("schedule: 4 KiB sequential reads of memory, depth 32", false, DEVICE,
                        Pattern.reads(Place.SEQUENTIAL, PAGE, 32), queue, merging));
    }
}
