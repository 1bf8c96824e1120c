package lunar.cli.osd;

import java.io.IOException;
import java.nio.file.Path;
import lunar.cli.command.Failure;
import lunar.osd.client.OsdOptions;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.client.security.CredentialSet;
import lunar.osd.security.KeyText;
import lunar.osd.wire.security.SecurityMethod;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options for object stores with security: the master key, or credentials that somebody has issued. */
final class AccessOptions {
    @Option(names = "--key-file", paramLabel = "FILE",
            description = "Master key of a store with security, which other users cannot read.")
    private @Nullable Path keyFile;

    @Option(names = "--credential", paramLabel = "FILE",
            description = "Credentials of 'lunar osd grant', in place of the key.")
    private @Nullable Path credential;

    @Option(names = "--security", paramLabel = "METHOD", converter = Method.class,
            description = "With --key-file: capkey, cmdrsp or alldata, what the store requires or more. Default: "
                    + "cmdrsp.")
    private @Nullable SecurityMethod method;

    /** A method by its name. */
    static final class Method implements ITypeConverter<SecurityMethod> {
        @Override
        public SecurityMethod convert(String value) {
            return SecurityMethod.named(value).filter(each -> each != SecurityMethod.NOSEC)
                    .orElseThrow(() -> new TypeConversionException(
                            "'" + value + "' is none of capkey, cmdrsp, alldata"));
        }
    }

    /** Returns what is wrong with the options together; null for nothing. */
    @Nullable
    String problem() {
        if (keyFile != null && credential != null) {
            return "--key-file and --credential exclude each other";
        }
        return method != null && keyFile == null ? "--security needs --key-file" : null;
    }

    /** Whether there is a master key. */
    boolean hasKey() { return keyFile != null; }

    /** Returns the holder of the master key. */
    CredentialIssuer issuer() throws IOException, Failure {
        if (keyFile == null) {
            throw new IllegalStateException("no key file");
        }
        return new CredentialIssuer(SecretFile.read(keyFile, KeyText::key),
                method == null ? SecurityMethod.CMDRSP : method);
    }

    /** Returns options of the client. */
    OsdOptions options() throws IOException, Failure {
        if (keyFile != null) {
            return OsdOptions.DEFAULT.withCredentials(issuer());
        }
        return credential == null
                ? OsdOptions.DEFAULT
                : OsdOptions.DEFAULT.withCredentials(
                        new CredentialSet(SecretFile.read(credential, KeyText::credentials)));
    }
}
