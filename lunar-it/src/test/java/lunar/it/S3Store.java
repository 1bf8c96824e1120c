package lunar.it;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import lunar.osd.client.OsdConnection;
import lunar.osd.s3.S3Options;
import lunar.osd.s3.S3Server;
import lunar.osd.s3.backend.OsdBackend;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import lunar.osd.target.OsdSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/** An object store in a directory, a target that serves it, and an S3 server over it, in this process. */
final class S3Store implements AutoCloseable {
    static final String KEY = "lunar-it";
    static final String SECRET = "a/secret+of=tests";

    private static final String TARGET = "iqn.2026-11.org.lunar:objects";

    private final ObjectStore store;
    private final TargetServer target;
    private final OsdConnection connection;
    private final S3Server server;

    S3Store(Path directory) throws IOException {
        store = DirectoryObjectStore.open(directory, new StoreOptions(true, false));
        target = TargetServer.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(TARGET).withLun(0, OsdSpec.of(store))).start();
        connection = OsdConnection.open("iscsi://127.0.0.1:"
                + target.portals().getFirst().getPort() + "/" + TARGET + "/0");
        server = S3Server.start(new OsdBackend(connection.osd()), S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0))
                .withKeys(Map.of(KEY, SECRET)));
    }

    /** Address and port of the S3 server. */
    String address() {
        return "127.0.0.1:" + server.address().getPort();
    }

    /** Writes a configuration of s3cmd. */
    static Path s3cmdConfiguration(Path folder, String address)
            throws IOException { return Files.writeString(folder.resolve("s3cfg"), """
                    [default]
                    host_base = %1$s
                    host_bucket = %1$s
                    use_https = False
                    access_key = %2$s
                    secret_key = %3$s
                    """.formatted(address, KEY, SECRET)); }

    /** Writes a file of access keys. */
    static Path keyFile(Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("s3.keys"), PosixFilePermissions
                .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, KEY + ' ' + SECRET + '\n');
    }

    @Override
    public void close() throws IOException {
        server.close();
        connection.close();
        target.close();
        store.close();
    }
}
