package lunar.iscsi.login;

import java.nio.charset.StandardCharsets;
import lunar.iscsi.text.KeyValue;

/**
 * A CHAP name and its secret.
 *
 * @param name CHAP_N
 * @param secret the secret that belongs to it
 */
public record ChapCredentials(String name, Secret secret) {
    public ChapCredentials {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > KeyValue.MAX_VALUE_BYTES || name.indexOf(0) >= 0) {
            throw new IllegalArgumentException(
                    "a CHAP name must have 1 to " + KeyValue.MAX_VALUE_BYTES + " bytes");
        }
    }
}
