package lunar.cli.osd;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.TimeConverter;
import lunar.osd.client.Osd;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.client.security.Grant;
import lunar.osd.security.Credential;
import lunar.osd.security.KeyText;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.security.Permission;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code lunar osd grant}: credentials for somebody else. */
@Command(name = "grant",
        description = "Write credentials for an object, or for a partition with all its objects, into a file. The holder of "
                + "the file can use them until they expire, or until 'lunar osd setkey' revokes them.",
        footer = {
                "", "Examples:",
                "  lunar osd grant iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 "
                        + "--key-file objects.key --out film.cred",
                "  lunar osd get iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 "
                        + "--credential film.cred > film.mp4"})
final class OsdGrantCommand extends OsdDeviceCommand {
    /** Kinds of access, in words of these commands. */
    enum Permit {
        READ, WRITE, CREATE, REMOVE;

        private Set<Permission> permissions() {
            return switch (this) {
                case READ -> EnumSet.of(Permission.READ, Permission.GET_ATTRIBUTES);
                case WRITE -> EnumSet.of(Permission.WRITE, Permission.APPEND,
                        Permission.SET_ATTRIBUTES, Permission.OBJECT_MANAGEMENT);
                case CREATE -> EnumSet.of(Permission.CREATE);
                case REMOVE -> EnumSet.of(Permission.REMOVE);
            };
        }
    }

    /** A permit in lower case. */
    static final class PermitConverter implements ITypeConverter<Permit> {
        @Override
        public Permit convert(String value) {
            return Stream.of(Permit.values())
                    .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(value)).findFirst()
                    .orElseThrow(() -> new TypeConversionException("'" + value
                            + "' is none of read, write, create, remove"));
        }
    }

    @Parameters(index = "1", paramLabel = "PARTITION", converter = ObjectNumber.Converter.class,
            description = "Number of the partition.")
    private long partition;

    @Parameters(index = "2", arity = "0..1", paramLabel = "OBJECT",
            converter = ObjectNumber.Converter.class,
            description = "Number of the object. Default: all objects of the partition, and their list.")
    private @Nullable Long object;

    @Option(names = "--permit", paramLabel = "WHAT", split = ",",
            converter = PermitConverter.class,
            description = "read, write, create, remove, separated by commas. Default: read.")
    private List<Permit> permits = List.of(Permit.READ);

    @Option(names = "--expires", paramLabel = "TIME", converter = TimeConverter.class,
            description = "How long they are valid, such as 10m or 8h. Default: 24h.")
    private Duration expires = Duration.ofHours(24);

    @Option(names = "--working-key", paramLabel = "N",
            description = "Working key of the partition that signs them, 0 to 15. Default: 0.")
    private int workingKey;

    @Option(names = "--out", paramLabel = "FILE", required = true,
            description = "The file, which must not exist.")
    private Path out = Path.of("");

    OsdGrantCommand(Console console) { super(console); }

    @Override
    void checkArguments() {
        if (!access().hasKey()) {
            throw wrongUsage(
                    "grant needs --key-file: only the holder of the key can issue credentials");
        }
        if (workingKey < 0 || workingKey >= PartitionAttribute.WORKING_KEYS) {
            throw wrongUsage("--working-key is a number from 0 to 15");
        }
        if (expires.isZero()) {
            throw wrongUsage("--expires 0 would have no effect");
        }
    }

    @Override
    void run(Osd osd) throws IOException, Failure {
        CredentialIssuer issuer = access().issuer();
        Instant end = Instant.now().plus(expires);
        var credentials = new ArrayList<Credential>();
        for (Grant grant : grants(end)) {
            credentials.add(issuer.issue(osd.secured(), grant));
        }
        try {
            SecretFile.create(out, KeyText.of(credentials));
        } catch (FileAlreadyExistsException e) {
            throw new Failure(out + " exists already; choose another name", e);
        }
        tell(isJson(), Map.of("file", out.toString(), "expires", end.toString()),
                "wrote " + out + ", valid until " + end);
    }

    private List<Grant> grants(Instant end) {
        var permissions = EnumSet.noneOf(Permission.class);
        permits.forEach(each -> permissions.addAll(each.permissions()));
        var id = new ObjectId(partition, object == null ? 0 : object);
        var all = new ArrayList<Grant>();
        all.add(grant(ObjectType.USER_OBJECT, id, permissions, end));
        if (object == null) {
            var ofCollections = EnumSet.copyOf(permissions);
            if (permits.contains(Permit.READ)) {
                ofCollections.add(Permission.QUERY);
            }
            all.add(grant(ObjectType.COLLECTION, id, ofCollections, end));
            var ofPartition = EnumSet.noneOf(Permission.class);
            if (permits.contains(Permit.READ)) {
                ofPartition.addAll(Permit.READ.permissions());
            }
            if (permits.contains(Permit.WRITE)) {
                ofPartition.add(Permission.OBJECT_MANAGEMENT);
            }
            if (!ofPartition.isEmpty()) {
                all.add(grant(ObjectType.PARTITION, id, ofPartition, end));
            }
        }
        return all;
    }

    private Grant grant(ObjectType type, ObjectId id, Set<Permission> permissions, Instant end) {
        return new Grant(type, id, permissions, end.toEpochMilli(), workingKey, 0);
    }
}
