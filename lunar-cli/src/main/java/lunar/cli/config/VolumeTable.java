package lunar.cli.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.cli.command.Failure;
import lunar.raid.layout.Level;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.service.RunOptions;
import lunar.raid.service.VolumeSpec;

/**
 * A {@code [[volume]]} table of a config file.
 *
 * <pre>
 * [[volume]]
 * name = "vol"
 * level = "raid5"
 * members = ["iscsi://10.0.0.5/iqn.2026-11.org.example:disk/0", "file:/srv/b.img", "file:/srv/c.img"]
 * spares = ["file:/srv/d.img"]
 * rebuild-rate = "100MiB"                   # of each member, a second
 * degraded = "yes"                          # may start without a missing member
 * stall-timeout = "1m"                      # a member that does not respond for so long is failed
 * verify-reads = "yes"                      # compares data read with checksums
 * </pre>
 *
 * @param level RAID level, if given
 * @param uuid UUID of the volume, if given
 */
public record VolumeTable(String name, Optional<Level> level, Optional<UUID> uuid,
        List<String> members,
        List<String> spares, Optional<String> journal, RunOptions options) {
    static final Set<String> KEYS = Set.of("name", "level", "uuid", "members", "spares",
            "journal", "rebuild-rate", "stall-timeout", "degraded", "verify-reads");
    private static final String EXAMPLE = "file:a.img";

    /** All volumes of a file, whose other tables are not looked at. */
    public static List<VolumeTable> read(Path file) throws Failure {
        var errors = new ConfigErrors(file);
        List<VolumeTable> volumes = read(TomlTable.read(file, errors));
        errors.require();
        return volumes;
    }

    /** All that a file has; errors are reported to its {@link ConfigErrors}. */
    static List<VolumeTable> read(TomlTable root) {
        var tables = new ArrayList<VolumeTable>();
        var names = new HashSet<String>();
        for (TomlTable table : root.tables("volume")) {
            Optional<VolumeTable> one = of(table);
            if (one.isPresent() && !names.add(one.get().name())) {
                table.wrong("name", "volume '" + one.get().name() + "' is configured twice");
            }
            one.ifPresent(tables::add);
        }
        return tables;
    }

    /** Reads a volume; empty if it has no name. */
    private static Optional<VolumeTable> of(TomlTable bare) {
        Optional<String> name = bare.required("name", KEYS,
                "a volume has no 'name'; give it one");
        TomlTable table = name.isEmpty() ? bare : bare.named("volume " + name.get());
        table.requireKnown(KEYS, " of a volume");
        List<String> members = uris(table, "members");
        if (table.lacks("members", KEYS) || table.isEmptyList("members")) {
            table.wrong("it has no 'members'; name its devices");
        }
        RunOptions options = RunOptions.DEFAULT;
        options = table.parsed("rebuild-rate",
                text -> RunOptions.DEFAULT.withRebuildRate(Size.parse(text))).orElse(options);
        RunOptions rated = options;
        options = table.parsed("stall-timeout",
                text -> rated.withStallTimeout(VolumeSpec.time(text))).orElse(rated);
        options = options.withDegradedStart(
                table.parsed("degraded", DegradedStart::parse).orElse(DegradedStart.REFUSED));
        options = options.withVerifyReads(
                table.parsed("verify-reads", VolumeSpec::verifyReads).orElse(false));
        var read = new VolumeTable(name.orElse(""), table.parsed("level", Level::parse),
                table.parsed("uuid", UUID::fromString), members, uris(table, "spares"),
                table.text("journal"), options);
        return name.map(_ -> read);
    }

    private static List<String> uris(TomlTable table, String key) {
        return table.texts(key, EXAMPLE).stream().map(TomlTable.Text::value).toList();
    }

    /** Returns this table as a spec, of the level that a URI says. */
    public VolumeSpec spec(Level scheme) {
        return new VolumeSpec(scheme, name, members, spares, journal, options);
    }

    /** Its text in a config file. */
    public static String text(VolumeSpec spec, UUID uuid) {
        var text = new StringBuilder("[[volume]]\n");
        text.append("name = ").append(quoted(spec.name())).append('\n');
        text.append("level = ").append(quoted(VolumeSpec.scheme(spec.level()))).append('\n');
        text.append("uuid = ").append(quoted(uuid.toString())).append('\n');
        text.append("members = ").append(list(spec.members())).append('\n');
        if (!spec.spares().isEmpty()) {
            text.append("spares = ").append(list(spec.spares())).append('\n');
        }
        spec.journal().ifPresent(
                uri -> text.append("journal = ").append(quoted(uri)).append('\n'));
        if (spec.options().rebuildBytesPerSecond() != RunOptions.UNLIMITED) {
            text.append("rebuild-rate = ")
                    .append(quoted(Long.toString(spec.options().rebuildBytesPerSecond())))
                    .append('\n');
        }
        if (!spec.options().stallTimeout().equals(RunOptions.DEFAULT.stallTimeout())) {
            text.append("stall-timeout = ")
                    .append(quoted(spec.options().stallTimeout().toMillis() + "ms")).append('\n');
        }
        return text.toString();
    }

    private static String list(List<String> uris) {
        var lines = new StringBuilder("[\n");
        uris.forEach(uri -> lines.append("    ").append(quoted(uri)).append(",\n"));
        return lines.append(']').toString();
    }

    /** A text as TOML has it. */
    static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < 0x20 || c == 0x7f) {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }

    /** Its short URI, where its level is known. */
    String title() {
        return level.map(VolumeSpec::scheme).orElse("volume") + ":" + name;
    }

    /** Whether a URI is one of a volume that does not say where its members are. */
    public static boolean isShort(DeviceUri uri) {
        return VolumeSpec.schemes().contains(uri.scheme())
                && uri.optionList("member").isEmpty();
    }
}
