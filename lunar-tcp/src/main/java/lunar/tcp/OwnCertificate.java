package lunar.tcp;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Key manager of an end with one certificate, which it presents whichever CAs the peer names. The JDK's presents none
 * that those CAs have not issued; a server would then report a missing certificate rather than one that it does not
 * trust, and could not trust the certificate itself. Thread-safe.
 */
final class OwnCertificate extends X509ExtendedKeyManager {
    private final X509ExtendedKeyManager keys;

    /** @param keys has the certificate and its key */
    OwnCertificate(X509ExtendedKeyManager keys) {
        this.keys = keys;
    }

    @Override
    public @Nullable String chooseEngineClientAlias(String[] keyTypes,
            Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return keys.chooseEngineClientAlias(keyTypes, null, engine);
    }

    @Override
    public @Nullable String chooseClientAlias(String[] keyTypes, Principal @Nullable [] issuers,
            @Nullable Socket socket) {
        return keys.chooseClientAlias(keyTypes, null, socket);
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return keys.getClientAliases(keyType, null);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(String keyType,
            Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return keys.chooseEngineServerAlias(keyType, null, engine);
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers,
            @Nullable Socket socket) {
        return keys.chooseServerAlias(keyType, null, socket);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return keys.getServerAliases(keyType, null);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return keys.getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) { return keys.getPrivateKey(alias); }
}
