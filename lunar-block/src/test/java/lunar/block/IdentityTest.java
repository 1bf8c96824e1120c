package lunar.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class IdentityTest {
    /** SHA-256 of "file:/disk.img" by sha256sum, cut to 16 bytes, with version 8 and the variant of RFC 9562. */
    @Test
    void shouldNameWithSha256() {
        UUID uuid = Identity.uuidOf("file:/disk.img");
        assertThat(uuid).isEqualTo(UUID.fromString("10d9a075-52a3-806b-b24d-8610ef7eae2a"));
        assertThat(uuid.version()).isEqualTo(8);
        assertThat(uuid.variant()).isEqualTo(2);
        assertThat(Identity.uuidOf("file:/other.img")).isNotEqualTo(uuid);
    }
}
