package lunar.cli.osd;

import java.nio.file.Path;
import lunar.cli.command.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Base class of the commands that transfer an object's data: their common arguments. */
abstract class OsdTransferCommand extends OsdDeviceCommand {
    @Parameters(index = "1", paramLabel = "PARTITION", converter = ObjectNumber.Converter.class,
            description = "Number of the partition.")
    private long partition;

    @Option(names = "--file", paramLabel = "FILE",
            description = "File of the data. Default: standard input or output.")
    private @Nullable Path file;

    @Option(names = "--verify", description = "Read the object again and compare.")
    private boolean verify;

    OsdTransferCommand(Console console) { super(console); }

    final long partition() { return partition; }

    @Nullable
    final Path file() { return file; }

    final boolean isVerified() { return verify; }
}
