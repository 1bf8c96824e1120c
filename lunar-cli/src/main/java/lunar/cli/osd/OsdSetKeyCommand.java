package lunar.cli.osd;

import java.io.IOException;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.osd.client.Osd;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar osd setkey}: revokes credentials. */
@Command(name = "setkey",
        description = "Give a partition another key: all credentials that were issued for it are invalid then. The "
                + "holder of the master key needs nothing else.",
        footer = {
                "", "Examples:",
                "  lunar osd setkey iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 --key-file objects.key",
                "  lunar osd setkey iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 --working-key 3 "
                        + "--key-file objects.key"})
final class OsdSetKeyCommand extends OsdDeviceCommand {
    @Parameters(index = "1", paramLabel = "PARTITION", converter = ObjectNumber.Converter.class,
            description = "Number of the partition.")
    private long partition;

    @Option(names = "--working-key", paramLabel = "N",
            description = "Change this working key alone, 0 to 15. Default: the key of the partition, and with it all "
                    + "working keys.")
    private @Nullable Integer workingKey;

    OsdSetKeyCommand(Console console) { super(console); }

    @Override
    void checkArguments() {
        if (!access().hasKey()) {
            throw wrongUsage("setkey needs --key-file");
        }
        if (workingKey != null
                && (workingKey < 0 || workingKey >= PartitionAttribute.WORKING_KEYS)) {
            throw wrongUsage("--working-key is a number from 0 to 15");
        }
    }

    @Override
    void run(Osd osd) throws IOException, Failure {
        CredentialIssuer issuer = access().issuer();
        KeyLevel level = workingKey == null ? KeyLevel.PARTITION : KeyLevel.WORKING;
        int version = workingKey == null ? 0 : workingKey;
        Bytes id = CredentialIssuer.newKeyId();
        osd.setKey(level, partition, version, id, issuer.seed(level, partition, version, id));
        String number = ObjectNumber.format(partition);
        tell(isJson(), Map.of("partition", number, "keyId", id.toString()),
                "set " + (workingKey == null ? "the key" : "working key " + version) + " of "
                        + number);
    }
}
