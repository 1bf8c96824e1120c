package lunar.osd.s3.signature;

import java.util.Map;
import java.util.Optional;

/** Secrets by access keys. Immutable; its text has no secrets. */
public final class AccessKeys {
    private final Map<String, String> secrets;

    /** @param secrets secrets by access keys */
    public AccessKeys(Map<String, String> secrets) {
        this.secrets = Map.copyOf(secrets);
    }

    Optional<String> secret(String accessKey) {
        return Optional.ofNullable(secrets.get(accessKey));
    }

    @Override
    public String toString() { return secrets.size() + " access keys"; }
}
