package lunar.iscsi.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PeerTextTest {
    @Test
    void shouldLeavePrintableAsciiAsItIs() {
        assertThat(PeerText.printable("iqn.2026-11.org.example:disk 1~")).isEqualTo(
                "iqn.2026-11.org.example:disk 1~");
        assertThat(PeerText.printable("")).isEmpty();
    }

    @Test
    void shouldEscapeControlSequences() {
        assertThat(PeerText.printable("a\r\n\u001b[31mb\u007f")).isEqualTo(
                "a\\x0d\\x0a\\x1b[31mb\\x7f");
        assertThat(PeerText.printable("\u0085\u009b2J")).isEqualTo("\\x85\\x9b2J");
        assertThat(PeerText.printable("\u202eksid\u2028\u2066")).isEqualTo(
                "\\u202eksid\\u2028\\u2066");
        assertThat(PeerText.printable("\ud83c\udf19")).isEqualTo("\\ud83c\\udf19");
    }

    @Test
    void shouldDistinguishEscapesFromBackslashesOfThePeer() {
        assertThat(PeerText.printable("\\x0a")).isEqualTo("\\\\x0a");
    }

    @Test
    void shouldBoundItsLength() {
        assertThat(PeerText.printable("a".repeat(223))).isEqualTo("a".repeat(223));
        assertThat(PeerText.printable("a".repeat(2048))).isEqualTo("a".repeat(223) + "...");
        assertThat(PeerText.printable("\n".repeat(2048))).isEqualTo("\\x0a".repeat(55) + "...");
        assertThat(PeerText.printable("a".repeat(220) + "\u202eb"))
                .isEqualTo("a".repeat(220) + "...");
    }
}
