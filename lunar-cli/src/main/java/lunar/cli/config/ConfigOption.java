package lunar.cli.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Option for the config file in which commands look up volumes by their short URI. */
public final class ConfigOption {
    @Option(names = "--config", paramLabel = "FILE",
            description = "Config file with the [[volume]] of a URI such as raid5:vol. Default: "
                    + "$LUNAR_CONFIG, otherwise lunar.toml in this directory.")
    private @Nullable Path config;

    /** Whether the command line names a file. */
    public boolean isGiven() { return config != null; }

    public VolumeUris volumes() { return new VolumeUris(config); }
}
