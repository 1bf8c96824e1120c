package lunar.osd.s3.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ListingTest {
    private static TreeMap<String, KeyIndex.Entry> index(String... keys) {
        var index = new TreeMap<String, KeyIndex.Entry>(KeyOrder.INSTANCE);
        for (String key : keys) {
            index.put(key, new KeyIndex.Entry(1, key.length(), 0, ""));
        }
        return index;
    }

    private static List<String> names(Listing listing) {
        return listing.objects().stream().map(Listing.Item::key).toList();
    }

    @Test
    void shouldSumUpKeysByDelimiter() {
        var index = index("a", "b/1", "b/2", "b/c/3", "b0", "c/");
        Listing all = Listing.of(index, new Listing.Request("", "/", "", 1000));
        assertThat(names(all)).containsExactly("a", "b0");
        assertThat(all.commonPrefixes()).containsExactly("b/", "c/");
        Listing below = Listing.of(index, new Listing.Request("b/", "/", "", 1000));
        assertThat(names(below)).containsExactly("b/1", "b/2");
        assertThat(below.commonPrefixes()).containsExactly("b/c/");
        assertThat(below.truncated()).isFalse();
    }

    @Test
    void shouldGoOnBehindKeysAndCommonPrefixes() {
        var index = index("a", "b/1", "b/2", "b0", "c/1", "d");
        var found = new ArrayList<String>();
        String after = "";
        Listing page;
        do {
            page = Listing.of(index, new Listing.Request("", "/", after, 1));
            found.addAll(names(page));
            found.addAll(page.commonPrefixes());
            after = page.last();
        } while (page.truncated());
        assertThat(found).containsExactly("a", "b/", "b0", "c/", "d");
    }

    @Test
    void shouldListNothingForNoKeys() {
        Listing listing = Listing.of(index("a"), new Listing.Request("", "", "", 0));
        assertThat(listing.objects()).isEmpty();
        assertThat(listing.truncated()).isFalse();
        assertThat(names(Listing.of(index("a", "b"), new Listing.Request("b", "", "a", 9))))
                .containsExactly("b");
        assertThat(names(Listing.of(index("a", "b"), new Listing.Request("", "", "a", 9))))
                .containsExactly("b");
    }

    @Test
    void shouldOrderKeysByTheirBytes() {
        var random = new Random(7);
        var bytes = new TreeSet<byte[]>(Arrays::compareUnsigned);
        var keys = new TreeSet<String>(KeyOrder.INSTANCE);
        for (int i = 0; i < 2000; i++) {
            var key = new StringBuilder();
            for (int length = random.nextInt(4); length >= 0; length--) {
                int[] kinds = {'a', 0x7f, 0x80, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
                key.appendCodePoint(kinds[random.nextInt(kinds.length)]);
            }
            keys.add(key.toString());
            bytes.add(key.toString().getBytes(StandardCharsets.UTF_8));
        }
        assertThat(keys).containsExactlyElementsOf(
                bytes.stream().map(each -> new String(each, StandardCharsets.UTF_8)).toList());
    }

    @Test
    void shouldFindFirstTextBehindPrefix() {
        assertThat(KeyOrder.behind("a/")).isEqualTo("a0");
        assertThat(KeyOrder.behind("a\ud7ff")).isEqualTo("a\ue000");
        assertThat(KeyOrder.behind("a\udbff\udfff")).isEqualTo("b");
    }
}
