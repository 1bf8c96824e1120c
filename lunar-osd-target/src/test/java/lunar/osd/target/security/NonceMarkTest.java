package lunar.osd.target.security;

import static org.assertj.core.api.Assertions.assertThat;

import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import org.junit.jupiter.api.Test;

/** The mark in the store is never before a nonce that was admitted. */
class NonceMarkTest {
    private static final long LATEST = (1L << 48) - 1;

    @Test
    void shouldCoverNoncesUpToTheLatestTime() throws Exception {
        try (ObjectStore store = ObjectStores.inMemory()) {
            var mark = new NonceMark(store, 0);
            mark.cover(1000);
            assertThat(stored(store)).isEqualTo(1000 + NonceMark.AHEAD_MS);
            mark.cover(LATEST - 1);
            assertThat(stored(store)).isEqualTo(LATEST);
        }
    }

    private static long stored(ObjectStore store) throws Exception {
        return store.<Long, RuntimeException>query(objects -> Values.number(
                objects.attribute(ObjectId.ROOT, SecretAttribute.NONCE_MARK)));
    }
}
