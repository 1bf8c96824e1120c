package lunar.filter;

import java.nio.file.InvalidPathException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceRecords;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.block.spi.FilterProvider;

/**
 * Parses the filters of this module in device URIs, which may be nested: {@code verify:delay=5ms+1ms:ram:1GiB}.
 *
 * <pre>
 * delay=TIME[+JITTER]:          times as 5ms, 200us, 1s
 * throttle=SIZE[,Niops]:        bytes and requests per second; throttle=500iops: alone
 * fault=RATE[,NAME=VALUE]...:   kind=error|torn|corrupt, op=read+write, lba=FIRST-LAST, seed=N
 * cache=SIZE[,NAME=VALUE]...:   policy=s3-fifo|lru, read-ahead=SIZE|off, page=SIZE
 * schedule=ORDER[,NAME=VALUE]...:  fifo or elevator; depth=N, merge=SIZE|off, deadline=TIME
 * encrypt=KEYFILE[,create-key=yes][,check=adopt]:   XTS-AES-256
 * verify:                       trace:
 * volatile:                     a write cache that is lost when the process is killed, for tests
 * </pre>
 */
public final class StandardFilters implements FilterProvider {
    private static final Pattern TIME = Pattern.compile("(\\d{1,12})(us|ms|s)");
    private static final Pattern RANGE = Pattern.compile("(\\d{1,18})-(\\d{1,18})");

    /** For {@link java.util.ServiceLoader}. */
    public StandardFilters() {}

    @Override
    public Set<String> names() {
        return Set.of("delay", "throttle", "fault", "cache", "schedule", "encrypt", "verify",
                "trace", "volatile");
    }

    @Override
    public FilterProvider.Filter parse(String name, String settings) {
        return switch (name) {
            case "delay" -> delay(settings);
            case "throttle" -> throttle(settings);
            case "fault" -> fault(settings);
            case "cache" -> cache(settings);
            case "schedule" -> schedule(settings);
            case "encrypt" -> encrypt(settings);
            case "verify" -> without(name, settings, (below, _) -> new VerifyFilter(below));
            case "volatile" -> without(name, settings, (below, _) -> new VolatileFilter(below));
            case "trace" -> without(name, settings, (below, _) -> new TraceFilter(below));
            default -> throw new IllegalArgumentException("no filter '" + name + ":'");
        };
    }

    private static FilterProvider.Filter encrypt(String settings) {
        try {
            EncryptOptions options = EncryptOptions.parse(settings);
            return new FilterProvider.Filter() {
                @Override
                public BlockDevice over(BlockDevice below, DeviceRecords records)
                        throws StorageException {
                    return new EncryptFilter(below, options, records);
                }

                @Override
                public void check() throws StorageException {
                    var key = new KeyFile(options.keyFile());
                    if (!options.createKey() || key.exists()) {
                        Arrays.fill(key.load(), (byte) 0);
                    }
                }
            };
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + settings + "' is not a path", e);
        }
    }

    private static FilterProvider.Filter without(String name, String settings,
            FilterProvider.Filter filter) {
        if (!settings.isEmpty()) {
            throw new IllegalArgumentException(
                    name + ": takes no settings, not '" + settings + "'");
        }
        return filter;
    }

    private static FilterProvider.Filter delay(String settings) {
        String[] parts = settings.split("\\+", -1);
        if (parts.length > 2) {
            throw new IllegalArgumentException(
                    "'" + settings
                            + "' is not a delay; write for example delay=5ms or delay=5ms+2ms");
        }
        Duration fixed = time(parts[0]);
        Duration jitter = parts.length == 2 ? time(parts[1]) : Duration.ZERO;
        return (below, _) -> new DelayFilter(below, fixed, jitter, new Random().nextLong());
    }

    private static Duration time(String text) {
        Matcher matcher = TIME.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a time; write for example 200us, 5ms or 1s");
        }
        long number = Long.parseLong(matcher.group(1));
        Duration time = switch (matcher.group(2)) {
            case "us" -> Duration.ofNanos(1000 * number);
            case "ms" -> Duration.ofMillis(number);
            default -> Duration.ofSeconds(number);
        };
        if (time.compareTo(DelayFilter.MAX_DELAY) > 0) {
            throw new IllegalArgumentException("'" + text + "' is longer than "
                    + DelayFilter.MAX_DELAY.toSeconds() + "s, the longest delay");
        }
        return time;
    }

    private static FilterProvider.Filter throttle(String settings) {
        long bytes = ThrottleFilter.UNLIMITED;
        long requests = ThrottleFilter.UNLIMITED;
        for (String part : settings.split(",", -1)) {
            if (part.endsWith("iops")) {
                requests = positive(part, Size.parse(part.substring(0, part.length() - 4)), 1);
            } else {
                bytes = positive(part, Size.parse(part), 1024);
            }
        }
        long bytesPerSecond = bytes;
        long requestsPerSecond = requests;
        return (below, _) -> new ThrottleFilter(below, bytesPerSecond, requestsPerSecond);
    }

    private static long positive(String part, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(
                    "'" + part + "' is below the minimum of a throttle, "
                            + least + " per second");
        }
        return value;
    }

    private static FilterProvider.Filter cache(String settings) {
        String[] parts = settings.split(",", -1);
        CacheOptions options = CacheOptions.of(Size.parse(parts[0]));
        for (String part : Arrays.asList(parts).subList(1, parts.length)) {
            String value = part.substring(part.indexOf('=') + 1);
            options = switch (part.substring(0, Math.max(0, part.indexOf('=')))) {
                case "policy" -> options.withPolicy(switch (value) {
                    case "s3-fifo" -> CachePolicy.s3Fifo();
                    case "lru" -> CachePolicy.lru();
                    default -> throw new IllegalArgumentException(
                            "'" + value + "' is not a cache policy; supported: s3-fifo, lru");
                });
                case "read-ahead" -> options.withReadAheadBytes(sizeOrOff(value));
                case "page" -> options.withPageBytes(
                        (int) Math.min(Integer.MAX_VALUE, Size.parse(value)));
                default -> throw new IllegalArgumentException("'" + part
                        + "' is not a setting of cache; supported: policy=, read-ahead=, page=");
            };
        }
        CacheOptions chosen = options;
        return (below, _) -> new CacheFilter(below, chosen);
    }

    private static long sizeOrOff(String text) { return text.equals("off") ? 0 : Size.parse(text); }

    private static FilterProvider.Filter schedule(String settings) {
        String[] parts = settings.split(",", -1);
        Duration deadline = ScheduleOptions.DEFAULT_DEADLINE;
        ScheduleOptions options = ScheduleOptions.of(RequestScheduler.fifo());
        for (String part : Arrays.asList(parts).subList(1, parts.length)) {
            String value = part.substring(part.indexOf('=') + 1);
            switch (part.substring(0, Math.max(0, part.indexOf('=')))) {
                case "depth" -> options = options.withDepth(
                        (int) Math.min(Integer.MAX_VALUE, Size.parse(value)));
                case "merge" -> options = options.withMergeBytes(sizeOrOff(value));
                case "deadline" -> deadline = time(value);
                default -> throw new IllegalArgumentException("'" + part
                        + "' is not a setting of schedule; supported: depth=, merge=, deadline=");
            }
        }
        RequestScheduler.Factory policy = switch (parts[0]) {
            case "fifo" -> RequestScheduler.fifo();
            case "elevator" -> RequestScheduler.elevator(deadline);
            default -> throw new IllegalArgumentException(
                    "'" + parts[0] + "' is not an order of schedule; supported: fifo, elevator");
        };
        var chosen = new ScheduleOptions(policy, options.depth(), options.mergeBytes());
        return (below, _) -> new ScheduleFilter(below, chosen);
    }

    private static FilterProvider.Filter fault(String settings) {
        String[] parts = settings.split(",", -1);
        FaultPlan plan = FaultPlan.errors(rate(parts[0]));
        long seed = new Random().nextLong();
        for (String part : Arrays.asList(parts).subList(1, parts.length)) {
            String name = part.substring(0, Math.max(0, part.indexOf('=')));
            String value = part.substring(part.indexOf('=') + 1);
            switch (name) {
                case "kind" -> plan = plan.withKind(constant(FaultPlan.Kind.class, value));
                case "op" -> {
                    var operations = EnumSet.noneOf(Operation.class);
                    for (String operation : value.split("\\+", -1)) {
                        operations.add(constant(Operation.class, operation));
                    }
                    plan = new FaultPlan(plan.kind(), plan.rate(), operations, plan.ranges());
                }
                case "lba" -> {
                    Matcher range = RANGE.matcher(value);
                    if (!range.matches()) {
                        throw new IllegalArgumentException(
                                "'" + value + "' is not a range of blocks; write for example 0-99");
                    }
                    plan = plan.withRange(Long.parseLong(range.group(1)),
                            Long.parseLong(range.group(2)));
                }
                case "seed" -> seed = seed(value);
                default -> throw new IllegalArgumentException("'" + part
                        + "' is not a setting of fault; supported: kind=, op=, lba=, seed=");
            }
        }
        FaultPlan chosen = plan;
        long chosenSeed = seed;
        return (below, _) -> new FaultFilter(below, chosen, chosenSeed);
    }

    private static double rate(String text) {
        try {
            double rate = Double.parseDouble(text);
            if (rate >= 0 && rate <= 1) {
                return rate;
            }
        } catch (NumberFormatException _) {
            // The same line serves both.
        }
        throw new IllegalArgumentException(
                "'" + text + "' is not a fault rate; write a number from 0 to 1, as in fault=0.01");
    }

    private static long seed(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a seed, which is a whole number", e);
        }
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String text) {
        for (E constant : type.getEnumConstants()) {
            if (name(constant).equals(text)) {
                return constant;
            }
        }
        throw new IllegalArgumentException("'" + text + "' is not one of " + String.join(", ",
                Arrays.stream(type.getEnumConstants()).map(StandardFilters::name).toList()));
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
