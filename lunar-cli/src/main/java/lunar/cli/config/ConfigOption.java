package lunar.cli.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where commands look for volumes that are named by their short URI. */
public final class ConfigOption {
    @Option(names = "--config", paramLabel = "FILE",
            description = "The file with the [[volume]] of a URI such as raid5:vol. Default: "
                    + "$LUNAR_CONFIG, else lunar.toml of this directory.")
    private @Nullable Path config;

    public VolumeUris volumes() { return new VolumeUris(config); }
}
