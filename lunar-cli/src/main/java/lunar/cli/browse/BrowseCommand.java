package lunar.cli.browse;

import lunar.cli.command.EndSignal;

import lunar.cli.command.Json;

import lunar.cli.config.ReadOnlyUri;

import lunar.cli.config.OpenDevices;

import lunar.cli.command.Console;

import lunar.cli.config.ConfigOption;

import lunar.cli.command.DeviceCommand;

import lunar.cli.command.Failure;
import lunar.cli.config.Portal;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import lunar.block.DeviceUri;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code lunar browse}: the files on a device, in a web browser or on the terminal. */
@Command(name = "browse",
        description = "Show the files on a device in a web browser: ext2, ext3, ext4 and FAT file systems, with"
                + " or without partitions. Nothing is written. SIGTERM or Ctrl-C ends it cleanly.",
        footer = {
                "", "Examples:", "  lunar browse file:disk.img",
                "  lunar browse iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 "
                        + "--listen 127.0.0.1:8080",
                "  lunar browse file:disk.img --volume 2 --list /etc",
                "  lunar browse file:disk.img --volume 2 --cat /etc/hostname"})
public final class BrowseCommand extends DeviceCommand {
    @Parameters(paramLabel = "URI", description = "The device.")
    private String uri = "";

    @Option(names = "--listen", paramLabel = "HOST:PORT", converter = Listen.class,
            description = "Address to listen on. Port 0 selects a free port. Default: 127.0.0.1:0.")
    private @Nullable Portal listen;

    @Option(names = "--allow-anonymous",
            description = "Show all files without authentication, even if other machines can connect.")
    private boolean allowAnonymous;

    @Option(names = "--volume", paramLabel = "N",
            description = "Number of the partition for --list and --cat. Default: the only one "
                    + "with files.")
    private @Nullable Integer volume;

    @Option(names = "--list", paramLabel = "PATH",
            description = "Print the entries of a directory, or the entry of a file, and exit.")
    private @Nullable String list;

    @Option(names = "--cat", paramLabel = "PATH",
            description = "Write the content of a file to standard output, and exit.")
    private @Nullable String cat;

    @Option(names = "--json", description = "Write JSON, with --list.")
    private boolean json;

    @Mixin
    private final ConfigOption config = new ConfigOption();

    public BrowseCommand(Console console) { super(console); }

    /** HOST:PORT, where no port is a free one. */
    static final class Listen implements ITypeConverter<Portal> {
        @Override
        public Portal convert(String value) {
            try {
                return Portal.parse(value, 0);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    protected int execute() throws Exception {
        requireSense();
        boolean serves = list == null && cat == null;
        InetSocketAddress address = (listen == null ? new Portal("127.0.0.1", 0) : listen)
                .resolve();
        if (serves && !address.getAddress().isLoopbackAddress() && !allowAnonymous) {
            throw new Failure("other machines can reach " + Portal.text(address)
                    + " and could read all files: listen on 127.0.0.1, or permit that with"
                    + " --allow-anonymous");
        }
        try (var devices = new OpenDevices(config.volumes())) {
            var disk = new BrowsedDisk(devices.open(ReadOnlyUri.of(uri)));
            if (serves) {
                requireFiles(disk.look());
                serve(disk, address, devices);
            } else {
                print(disk.look());
            }
        }
        return 0;
    }

    private void requireSense() {
        if (list != null && cat != null) {
            throw wrongUsage("--list and --cat exclude each other");
        }
        boolean prints = list != null || cat != null;
        if (prints && listen != null) {
            throw wrongUsage("--listen cannot be used with --list and --cat");
        }
        if (!prints && volume != null) {
            throw wrongUsage("--volume requires --list or --cat; the web browser shows all"
                    + " volumes");
        }
        if (list == null && json) {
            throw wrongUsage("--json requires --list");
        }
    }

    private void requireFiles(BrowsedDisk.Look look) throws Failure {
        if (look.parts().stream().noneMatch(part -> part.files().isPresent())) {
            throw new Failure("cannot show the files of " + DeviceUri.withoutSecret(uri) + ": "
                    + look.parts().stream().map(part -> (look.isWhole()
                            ? ""
                            : "volume " + part.volume().number() + ": ") + part.problem())
                            .collect(Collectors.joining("; ")));
        }
    }

    private void print(BrowsedDisk.Look look) throws Exception {
        requireFiles(look);
        var terminal = new BrowseTerminal(part(look));
        if (cat != null) {
            terminal.cat(cat, console().raw());
        } else if (list != null && json) {
            console().out().println(Json.text(terminal.tree(list)));
        } else if (list != null) {
            terminal.list(list).forEach(console().out()::println);
        }
        console().out().flush();
    }

    private BrowsedDisk.Part part(BrowsedDisk.Look look) throws Failure {
        OptionalInt wanted = volume == null ? OptionalInt.empty() : OptionalInt.of(volume);
        var parts = look.parts().stream()
                .filter(part -> wanted.isEmpty() || part.volume().number() == wanted.getAsInt())
                .filter(part -> wanted.isPresent() || part.files().isPresent()).toList();
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        throw new Failure(
                (wanted.isEmpty() ? "there are several volumes" : "no volume " + volume)
                        + "; choose one with --volume: " + look.parts().stream()
                                .map(part -> part.volume().number() + " (" + part.volume().type()
                                        + ")")
                                .collect(Collectors.joining(", ")));
    }

    private void serve(BrowsedDisk disk, InetSocketAddress address, OpenDevices devices)
            throws Failure {
        String shown = DeviceUri.withoutSecret(uri);
        try (BrowseServer server = start(disk, shown, address)) {
            var end = EndSignal.closing(console(), server, devices);
            console().out().println("browsing " + shown + " at http://"
                    + Portal.text(server.address()) + "/");
            console().out().flush();
            end.await();
        }
    }

    private static BrowseServer start(BrowsedDisk disk, String shown, InetSocketAddress address)
            throws Failure {
        try {
            return BrowseServer.start(disk, shown, address);
        } catch (IOException e) {
            throw new Failure("cannot listen on " + Portal.text(address) + ": " + e.getMessage()
                    + "; choose another --listen", e);
        }
    }
}
