package lunar.cli.raid;

import java.io.IOException;
import java.util.Optional;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.block.DeviceUri;
import lunar.cli.admin.ServerAddress;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.AdminVolume;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.StoredUri;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * Base class of the commands that operate on a volume: where it runs on this machine, else in this process; or at the
 * server whose address is given, whose files and config file are not those of this command.
 */
@Command
abstract class RaidOperationCommand extends RaidVolumeCommand {
    @Mixin
    private final ServerAddress server = new ServerAddress();

    RaidOperationCommand(Console console) { super(console); }

    /**
     * The volume that a command operates on.
     *
     * @param title its short URI
     * @param spec empty if it is that of a server whose address was given
     */
    record Operated(String title, Optional<VolumeSpec> spec, VolumeControl control)
            implements AutoCloseable {
        /** Returns the stored form of a member's URI; for a server it stays as it is, since the server stores it. */
        String kept(String uri) throws Failure {
            if (spec.isPresent()) {
                return StoredUri.of(uri);
            }
            if (StoredUri.isRelative(uri)) {
                throw new Failure(DeviceUri.withoutSecret(uri) + " has a relative path: specify the"
                        + " absolute path of a file on the server's host");
            }
            return uri;
        }

        /** Returns a slot as sent in a request, from its number or the URI of its member. */
        String slot(String text) throws Failure {
            return text.matches("\\d+") ? text : kept(text);
        }

        JsonNode status() throws IOException { return control.status(); }

        /** Whether a command waits for a scan: one of its own process, or if the user wants so. */
        boolean isAwaited(boolean wait) {
            return wait || !control.isElsewhere();
        }

        @Override
        public void close() throws IOException { control.close(); }
    }

    /** Returns a member's URI for people, as the volume stores it. */
    static String shown(String uri) {
        return DeviceUri.withoutSecret(StoredUri.of(uri));
    }

    @Override
    protected final int execute() throws Exception {
        logWarningsOnly();
        Optional<AdminClient> client = server.client(config());
        if (client.isPresent()) {
            return execute(client.get());
        }
        VolumeSpec spec = checked(spec());
        try (var volume = new Operated(spec.title(), Optional.of(spec), reach(spec))) {
            return execute(volume);
        }
    }

    private int execute(AdminClient client) throws Exception {
        VolumeControl there = new AdminVolume(client, uri());
        try (var volume = new Operated(there.status().path("volume").asString(uri()),
                Optional.empty(), there)) {
            return execute(volume);
        } catch (UnreachableException e) {
            throw ServerAddress.unreachable(e);
        }
    }

    /** Returns the volume to reach, if this command may operate on it. */
    VolumeSpec checked(VolumeSpec spec) throws IOException {
        return spec;
    }

    /** Operates on the volume, and returns the exit status. */
    abstract int execute(Operated volume) throws Exception;

    /** Creates the file of a new member on this machine; a server does so itself. */
    final void make(Operated volume, String uri) throws IOException {
        if (volume.spec().isPresent()) {
            StoredUri.createFile(uri);
        }
    }

    /** Like {@link RaidVolumeCommand#keepNamed}, unless a server runs the volume, which does so itself. */
    final void keepNamed(Operated volume, String before, String after)
            throws IOException, Failure, InterruptedException {
        if (volume.spec().isPresent()) {
            keepNamed(volume.spec().get(), volume.status(), before, after);
        }
    }
}
