package lunar.cli.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.ControlClient;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.layout.Level;
import lunar.raid.service.RunOptions;
import lunar.raid.service.VolumeSpec;
import lunar.server.DeviceOpener;
import lunar.server.InvalidPlanException;
import org.jspecify.annotations.Nullable;

/**
 * Resolves short URIs such as {@code raid5:vol} to volumes of the config file: the one given on the command line,
 * otherwise {@code $LUNAR_CONFIG}, otherwise {@code lunar.toml} in this directory if it exists.
 */
public final class VolumeUris {
    static final String VARIABLE = "LUNAR_CONFIG";
    private static final Path HERE = Path.of("lunar.toml");

    private final Optional<Path> named;

    /** @param named the file that is named on the command line */
    public VolumeUris(@Nullable Path named) {
        this.named = Optional.ofNullable(named);
    }

    /** Returns the volumes of the file that the variable names, or of this directory's file. */
    public static VolumeUris usual() {
        return new VolumeUris(null);
    }

    /** The file; it may not be there. */
    public Path file() {
        String variable = System.getenv(VARIABLE);
        return named.orElse(variable == null || variable.isEmpty() ? HERE : Path.of(variable));
    }

    /** All volumes of the file; none where there is no file. */
    public List<VolumeTable> tables() throws Failure {
        return Files.exists(file())
                ? VolumeTable.read(file())
                : List.of();
    }

    /** The table of a name. */
    public Optional<VolumeTable> table(String name) throws Failure {
        return tables().stream().filter(one -> one.name().equals(name)).findFirst();
    }

    /** Opens a device; its URI may be the short one of a volume. */
    public BlockDevice open(String uri) throws StorageException, Failure {
        return open(uri, DeviceRecords.NONE);
    }

    /** Opens a device with records of those that were opened before; its URI may be the short one of a volume. */
    public BlockDevice open(String uri, DeviceRecords records) throws StorageException, Failure {
        String whole = expanded(uri);
        try {
            return Devices.open(whole, records);
        } catch (StorageException e) {
            requireStopped(Devices.withoutFilters(whole));
            throw e;
        }
    }

    /** Returns the opener of a server's devices. */
    public DeviceOpener opener() {
        return new DeviceOpener() {
            @Override
            public BlockDevice open(String uri, DeviceRecords records)
                    throws StorageException, InvalidPlanException {
                try {
                    return VolumeUris.this.open(uri, records);
                } catch (Failure e) {
                    throw new InvalidPlanException(String.valueOf(e.getMessage()), e);
                }
            }

            @Override
            public void check(String uri) throws StorageException, InvalidPlanException {
                try {
                    DeviceOpener.super.check(expanded(uri));
                } catch (Failure | IllegalArgumentException e) {
                    throw new InvalidPlanException(String.valueOf(e.getMessage()), e);
                }
            }
        };
    }

    /** Requires that a volume is not running; otherwise its members would only be reported as in use. */
    private void requireStopped(String uri) throws Failure {
        if (!isVolume(uri)) {
            return;
        }
        VolumeSpec spec = volume(uri);
        try {
            Optional<VolumeControl> running = ControlClient.find(spec, uuid(spec));
            if (running.isPresent()) {
                try (VolumeControl there = running.get()) {
                    throw new Failure(spec.title() + " is already running, in process "
                            + there.status().path("pid").asLong(0) + ": use it there, or stop it"
                            + " with 'lunar raid stop " + spec.title() + "'");
                }
            }
        } catch (IOException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, spec.title(), e);
        }
    }

    private static boolean isVolume(String bare) {
        return VolumeSpec.schemes().stream().anyMatch(
                scheme -> bare.regionMatches(true, 0, scheme + ":", 0, scheme.length() + 1));
    }

    /** Expands the URI of a volume to one with its members; returns any other URI unchanged. Keeps filters. */
    String expanded(String uri) throws Failure {
        String bare = Devices.withoutFilters(uri);
        if (!isVolume(bare)) {
            return uri;
        }
        DeviceUri parsed = DeviceUri.parse(bare);
        return VolumeTable.isShort(parsed)
                ? uri.substring(0, uri.length() - bare.length()) + volume(bare).uri()
                : uri;
    }

    /** Returns the volume of a URI; options of the URI override those of the file. */
    public VolumeSpec volume(String uri) throws Failure {
        DeviceUri parsed = DeviceUri.parse(uri);
        if (!VolumeSpec.schemes().contains(parsed.scheme())) {
            throw new Failure(DeviceUri.withoutSecret(uri)
                    + " is not a volume; write for example raid5:vol"
                    + "; configured: "
                    + String.join(":, ", VolumeSpec.schemes().stream().sorted().toList()) + ":");
        }
        if (!VolumeTable.isShort(parsed)) {
            return VolumeSpec.of(parsed);
        }
        Level level = Level.parse(parsed.scheme());
        Optional<VolumeTable> table = table(parsed.rest());
        if (table.isEmpty()) {
            List<String> names = tables().stream().map(VolumeTable::title).toList();
            throw new Failure(parsed + " is not in the config file " + file() + (names.isEmpty()
                    ? Files.exists(file()) ? ", which has no volumes" : ", which does not exist"
                    : "; configured: " + String.join(", ", names))
                    + ": specify another file with --config, or write " + parsed
                    + "?member=URI&member=URI");
        }
        Map<String, String> options = new LinkedHashMap<>(parsed.options());
        VolumeSpec spec = table.get().spec(level);
        var text = new StringBuilder(spec.withOptions(with(spec.options())).uri());
        for (var option : options.entrySet()) { // the later one counts
            text.replace(0, text.length(), text.toString()
                    .replaceAll("&" + Pattern.quote(option.getKey()) + "=[^&]*", ""));
            text.append('&').append(option.getKey()).append('=')
                    .append(DeviceUri.encoded(option.getValue()));
        }
        return VolumeSpec.of(DeviceUri.parse(text.toString()));
    }

    /** How a volume is run that this file is to name the members of. */
    public RunOptions with(RunOptions options) {
        return options.withConfigFile(file().toAbsolutePath().normalize().toString());
    }

    /** The UUID of a volume, where the file has it. */
    public Optional<UUID> uuid(VolumeSpec spec) throws Failure {
        return table(spec.name()).filter(one -> one.members().equals(spec.members()))
                .flatMap(VolumeTable::uuid);
    }
}
