package lunar.cli.copy;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.cli.command.Progress;
import lunar.cli.command.SizeConverter;
import lunar.cli.config.ConfigOption;
import lunar.cli.config.OpenDevices;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import lunar.block.BlockDevice;
import lunar.block.LostWritesException;
import lunar.block.Size;
import lunar.block.StorageException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar copy}: one device to another. */
@Command(name = "copy",
        description = "Copy a device or file to another one. Zeroes and holes are not transferred.",
        footer = {
                "", "Examples:",
                "  lunar copy disk.img iscsi://10.0.0.5/iqn.2026-11.org.lunar:disk/0 --verify",
                "  lunar copy iscsi://10.0.0.5/iqn.2026-11.org.lunar:disk/0 backup.img"})
public final class CopyCommand extends DeviceCommand {
    private static final int MAX_REPAIRS = 16;
    private static final int MAX_DEPTH = 1024;
    private static final int MAX_CHUNK_BYTES = 64 << 20;

    @Parameters(index = "0", paramLabel = "SRC", description = "A device, or the path of a file.")
    private String source = "";

    @Parameters(index = "1", paramLabel = "DST",
            description = "A device, or the path of a file, which is created if it does not exist.")
    private String destination = "";

    @Option(names = "--verify", description = "Read the copy back and compare.")
    private boolean verify;

    @Option(names = "--block-size", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "1MiB", description = "Size of a request. Default: ${DEFAULT-VALUE}.")
    private long blockBytes;

    @Option(names = "--qd", paramLabel = "N", defaultValue = "8",
            description = "Requests in flight. Default: ${DEFAULT-VALUE}.")
    private int depth;

    @Option(names = "--no-sparse", description = "Transfer zeroes and holes as data.")
    private boolean dense;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    @Mixin
    private final ConfigOption config = new ConfigOption();

    public CopyCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw wrongUsage("--qd must be 1 to " + MAX_DEPTH);
        }
        if (blockBytes < 512 || blockBytes > MAX_CHUNK_BYTES || blockBytes % 512 != 0) {
            throw wrongUsage("--block-size must be 512 to 64MiB, in steps of 512");
        }
        var ends = CopyEnds.of(source, destination);
        boolean completed = false;
        try (var devices = new OpenDevices(config.volumes())) {
            BlockDevice from = devices.open(ends.sourceUri());
            boolean fresh = ends.isFresh();
            BlockDevice to = devices.open(ends.destinationUri(from));
            CopyEnds.requireFit(from, to, destination);
            copy(from, to, fresh && !dense);
            completed = true;
        } finally {
            if (!completed) {
                ends.removeWhatWasCreated();
            }
        }
        return 0;
    }

    private void copy(BlockDevice from, BlockDevice to, boolean zero)
            throws IOException, Failure, InterruptedException {
        int chunkBytes = CopyEnds.chunkBytes(from, to, blockBytes);
        long startNs = System.nanoTime();
        DeviceCopy copy;
        try (var progress = new Progress(console(), "copy", from.sizeBytes())) {
            copy = new DeviceCopy(from, to, depth, chunkBytes, !dense, zero, progress);
            copy.run();
        }
        makeStable(from, to, chunkBytes);
        double seconds = secondsSince(startNs);
        tell("copied", from.sizeBytes(), seconds, copy.zeroBytes() == 0
                ? ""
                : "; " + Size.format(copy.zeroBytes()) + " of it zeroes, not transferred");
        if (verify) {
            verify(from, to, chunkBytes);
        }
        if (json) {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("bytes", from.sizeBytes());
            tree.put("zeroBytes", copy.zeroBytes());
            tree.put("seconds", seconds);
            tree.put("verified", verify);
            console().out().println(Json.text(tree));
        }
    }

    /** Flushes. A destination that may have lost writes with its cache gets again what it lacks. */
    private void makeStable(BlockDevice from, BlockDevice to, int chunkBytes)
            throws StorageException {
        StorageException lost = null;
        for (int i = 0; i < MAX_REPAIRS; i++) {
            try {
                to.flush();
                if (lost == null) {
                    return;
                }
                lost = null;
                CopyRepair.run(from, to, chunkBytes);
            } catch (LostWritesException e) {
                lost = e;
                console().err().println("copy: " + e.getMessage() + "; comparing everything again");
            }
        }
        to.flush();
    }

    private void verify(BlockDevice from, BlockDevice to, int chunkBytes)
            throws StorageException, Failure, InterruptedException {
        long startNs = System.nanoTime();
        try (var progress = new Progress(console(), "verify", from.sizeBytes())) {
            new DeviceComparison(from, to, depth, chunkBytes, progress).run();
        }
        tell("verified", from.sizeBytes(), secondsSince(startNs), "; no differences");
    }

    private static double secondsSince(long startNs) {
        return Math.max(System.nanoTime() - startNs, 1) / 1e9;
    }

    /** Prints a line for people, who have not asked for JSON. */
    private void tell(String what, long bytes, double seconds, String more) {
        if (json) {
            return;
        }
        console().out()
                .println(String.format(Locale.ROOT, "%s %d bytes (%s) in %.2f s, %.1f MB/s%s",
                        what, bytes, Size.format(bytes), seconds, bytes / 1e6 / seconds, more));
    }
}
