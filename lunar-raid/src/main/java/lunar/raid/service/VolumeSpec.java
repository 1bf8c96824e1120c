package lunar.raid.service;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.Size;
import lunar.raid.OwnershipOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.DegradedStart;

/**
 * The volume to run, the devices of its members, and its options. As a URI: {@code
 * raid5:NAME?member=URI&member=URI...&spare=URI&journal=URI&rebuild-rate=50M&stall-timeout=1m} and so on, each URI
 * {@link DeviceUri#encoded}.
 *
 * @param level the level, which the superblocks must confirm
 * @param name the name, which the superblocks must confirm
 * @param members devices, in any order; slots without one are missing
 * @param spares devices that replace members that fail
 * @param journal the device that has the journal, where members have none
 */
public record VolumeSpec(Level level, String name, List<String> members, List<String> spares,
        Optional<String> journal, RunOptions options) {
    private static final Map<String, Level> SCHEMES = byScheme();
    private static final Set<String> LISTS = Set.of("member", "spare");
    private static final Set<String> OPTIONS = Set.of("member", "spare", "journal",
            "rebuild-rate", "stall-timeout", "degraded", "lost-journal", "verify-reads",
            "config", "take-over", "reservations");
    private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s|m|h)?");

    /** @throws IllegalArgumentException if a device is to be opened without its lock */
    public VolumeSpec {
        members = List.copyOf(members);
        spares = List.copyOf(spares);
        members.forEach(Devices::requireLock);
        spares.forEach(Devices::requireLock);
        journal.ifPresent(Devices::requireLock);
    }

    private static Map<String, Level> byScheme() {
        var schemes = new TreeMap<String, Level>();
        for (Level level : Level.values()) {
            schemes.put(level.name().toLowerCase(Locale.ROOT), level);
        }
        return Map.copyOf(schemes);
    }

    /** The schemes of volumes: {@code raid5} and so on. */
    public static Set<String> schemes() {
        return SCHEMES.keySet();
    }

    /** The scheme of a level. */
    public static String scheme(Level level) {
        return level.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Parses a URI.
     *
     * @throws IllegalArgumentException with one line for the operator
     */
    public static VolumeSpec of(DeviceUri uri) {
        Level level = SCHEMES.get(uri.scheme());
        if (level == null) {
            throw new IllegalArgumentException(uri.scheme() + ": is no volume; there are "
                    + String.join(", ", SCHEMES.keySet().stream().sorted().toList()));
        }
        uri.requireKnownOptions(OPTIONS, LISTS);
        if (uri.rest().isEmpty()) {
            throw new IllegalArgumentException(uri.scheme() + ": needs a name, as in "
                    + uri.scheme() + ":vol?member=URI&member=URI");
        }
        List<String> members = uri.optionList("member");
        if (members.isEmpty()) {
            throw new IllegalArgumentException(uri + " does not say where its members are: write "
                    + uri.scheme() + ":" + uri.rest() + "?member=URI&member=URI..., or name it in"
                    + " a config file");
        }
        RunOptions options = RunOptions.DEFAULT;
        Optional<String> rate = uri.option("rebuild-rate");
        if (rate.isPresent()) {
            options = options.withRebuildRate(Size.parse(rate.get()));
        }
        Optional<String> stall = uri.option("stall-timeout");
        if (stall.isPresent()) {
            options = options.withStallTimeout(time(stall.get()));
        }
        options = options.withDegradedStart(DegradedStart.parse(uri.option("degraded", "no")))
                .withLostJournal(LostJournalPolicy.parse(uri.option("lost-journal", "no")));
        Optional<String> config = uri.option("config");
        if (config.isPresent()) {
            options = options.withConfigFile(config.get());
        }
        options = options.withVerifyReads(verifyReads(uri.option("verify-reads", "no")));
        options = options.withOwnership(OwnershipOptions.DEFAULT
                .withTakeOver(isYes("take-over", uri.option("take-over", "no")))
                .withReservations(isYes("reservations", uri.option("reservations", "yes"))));
        return new VolumeSpec(level, uri.rest(), members, uri.optionList("spare"),
                uri.option("journal"), options);
    }

    /**
     * Whether what is read is compared with checksums: {@code no} or {@code yes}.
     *
     * @throws IllegalArgumentException with one line for the operator
     */
    public static boolean verifyReads(String text) { return isYes("verify-reads", text); }

    private static boolean isYes(String name, String text) {
        return switch (text) {
            case "yes" -> true;
            case "no" -> false;
            default -> throw new IllegalArgumentException(
                    name + "=" + text + " is not one of no, yes");
        };
    }

    /**
     * A time such as {@code 30s}, {@code 5m}; 0 needs no unit.
     *
     * @throws IllegalArgumentException with one line for the operator
     */
    public static Duration time(String text) {
        Matcher matcher = TIME.matcher(text);
        if (!matcher.matches() || (matcher.group(2) == null && !text.equals("0"))) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a time; write for example 30s or 5m, or 0 for never");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (String.valueOf(matcher.group(2))) {
            case "ms" -> Duration.ofMillis(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofSeconds(number);
        };
    }

    /** Returns the short URI, {@code raid5:vol}, for the operator. */
    public String title() {
        return scheme(level) + ":" + name;
    }

    /** Returns the complete URI. */
    public String uri() {
        var written = new ArrayList<String>();
        members.forEach(uri -> written.add("member=" + DeviceUri.encoded(uri)));
        spares.forEach(uri -> written.add("spare=" + DeviceUri.encoded(uri)));
        journal.ifPresent(uri -> written.add("journal=" + DeviceUri.encoded(uri)));
        if (options.rebuildBytesPerSecond() != RunOptions.DEFAULT.rebuildBytesPerSecond()) {
            written.add("rebuild-rate=" + options.rebuildBytesPerSecond());
        }
        if (!options.stallTimeout().equals(RunOptions.DEFAULT.stallTimeout())) {
            written.add("stall-timeout=" + options.stallTimeout().toMillis() + "ms");
        }
        if (options.degradedStart() != DegradedStart.REFUSED) {
            written.add("degraded=" + options.degradedStart());
        }
        if (options.lostJournal() != LostJournalPolicy.REFUSE) {
            written.add("lost-journal=" + options.lostJournal());
        }
        options.configFile().ifPresent(path -> written.add("config=" + DeviceUri.encoded(path)));
        if (options.verifyReads()) {
            written.add("verify-reads=yes");
        }
        if (options.ownership().takesOver()) {
            written.add("take-over=yes");
        }
        if (!options.ownership().reserves()) {
            written.add("reservations=no");
        }
        return title() + (written.isEmpty() ? "" : "?" + String.join("&", written));
    }

    public VolumeSpec withOptions(RunOptions other) {
        return new VolumeSpec(level, name, members, spares, journal, other);
    }

    @Override
    public String toString() { return title(); }
}
