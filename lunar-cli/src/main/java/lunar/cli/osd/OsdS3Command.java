package lunar.cli.osd;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lunar.block.DeviceUri;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.EndSignal;
import lunar.cli.command.Failure;
import lunar.cli.config.Portal;
import lunar.cli.log.LogOptions;
import lunar.osd.client.OsdConnection;
import lunar.osd.s3.AccessKeyFile;
import lunar.osd.s3.S3Options;
import lunar.osd.s3.S3Server;
import lunar.osd.s3.backend.OsdBackend;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code lunar osd s3}: an HTTP server with the S3 protocol over an object store. */
@Command(name = "s3",
        description = "Serve an object store to S3 clients, over HTTP: buckets are partitions, keys are user objects. "
                + "One such server writes to an object store at a time. SIGTERM or Ctrl-C ends it cleanly.",
        footer = {
                "", "A line of the credentials file has an access key, a blank and a secret.",
                "", "Example:",
                "  lunar osd s3 iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 --credentials s3.keys"})
final class OsdS3Command extends DeviceCommand {
    private static final int PORT = 9000;

    @Parameters(paramLabel = "URI",
            description = "The object store, such as iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0.")
    private String uri = "";

    @Option(names = "--listen", paramLabel = "HOST:PORT", converter = Listen.class,
            description = "Address to listen on. Port 0 selects a free port. Default: 127.0.0.1:9000.")
    private @Nullable Portal listen;

    @Option(names = "--credentials", paramLabel = "FILE",
            description = "File of access keys and secrets, which other users cannot read.")
    private @Nullable Path credentials;

    @Option(names = "--allow-anonymous",
            description = "Permit requests without a signature, even if other machines can connect.")
    private boolean allowAnonymous;

    @Option(names = "--domain", paramLabel = "NAME",
            description = "A name of this server, besides localhost, whose subdomains are buckets. Repeatable.")
    private List<String> domains = List.of();

    @Option(names = "--no-flush",
            description = "Acknowledge before data are on stable storage: faster, and a power failure loses them.")
    private boolean noFlush;

    @Mixin
    private LogOptions log = new LogOptions();

    @Mixin
    private AccessOptions access = new AccessOptions();

    OsdS3Command(Console console) { super(console); }

    /** HOST:PORT, where the port has a default. */
    static final class Listen implements ITypeConverter<Portal> {
        @Override
        public Portal convert(String value) {
            try {
                return Portal.parse(value, PORT);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    protected int execute() throws Exception {
        log.apply();
        if (credentials == null && !allowAnonymous) {
            throw wrongUsage("clients need access keys: name a file with --credentials, or permit"
                    + " requests without a signature with --allow-anonymous");
        }
        String problem = access.problem();
        if (problem != null) {
            throw wrongUsage(problem);
        }
        S3Options options = options();
        String shown = DeviceUri.withoutSecret(uri);
        try (var connection = OsdConnection.open(uri, access.options());
                S3Server server = start(connection, options)) {
            var end = EndSignal.closing(console(), server, connection);
            console().out().println("serving " + shown + " by S3 at http://"
                    + Portal.text(server.address()) + "/");
            console().out().flush();
            end.await();
        }
        return 0;
    }

    private S3Options options() throws Failure, IOException {
        InetSocketAddress address = (listen == null ? new Portal("127.0.0.1", PORT) : listen)
                .resolve();
        var names = new ArrayList<>(S3Options.DEFAULT.domains());
        names.addAll(domains);
        Map<String, String> keys = credentials == null ? Map.of() : AccessKeyFile.read(credentials);
        return new S3Options(address, keys, allowAnonymous, names, !noFlush);
    }

    private static S3Server start(OsdConnection connection, S3Options options)
            throws IOException, Failure {
        try {
            return S3Server.start(new OsdBackend(connection.osd()), options);
        } catch (BindException e) {
            throw new Failure("cannot listen on " + Portal.text(options.address()) + ": "
                    + e.getMessage() + "; choose another --listen", e);
        }
    }
}
