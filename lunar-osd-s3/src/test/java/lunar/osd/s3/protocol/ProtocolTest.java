package lunar.osd.s3.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProtocolTest {
    private static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    @Test
    void shouldEncodeAndDecodePercent() throws S3Exception {
        assertThat(PercentEncoding.encode("a/ä ~+*")).isEqualTo("a%2F%C3%A4%20~%2B%2A");
        assertThat(PercentEncoding.encodePath("a/b c")).isEqualTo("a/b%20c");
        assertThat(PercentEncoding.decodePath("%C3%A4+%2e%2E/%00")).isEqualTo("ä+../\0");
        assertThat(PercentEncoding.decodeQuery("a+b%2B")).isEqualTo("a b+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "%4", "%zz", "%ff", "%C3", "%c0%80", "%ed%a0%80"})
    void shouldRefuseMalformedPercent(String raw) {
        assertThatThrownBy(() -> PercentEncoding.decodePath(raw)).isInstanceOf(S3Exception.class);
    }

    @Test
    void shouldSortCanonicalQuery() throws S3Exception {
        Query query = Query.parse("b=2&a=%2F&X-Amz-Signature=x&uploads&a=1");
        assertThat(query.canonical("X-Amz-Signature")).isEqualTo("a=%2F&a=1&b=2&uploads=");
        assertThat(query.get("a")).contains("/");
        assertThat(query.get("c")).isEmpty();
        assertThatThrownBy(() -> Query.parse("a&".repeat(1000))).isInstanceOf(S3Exception.class);
    }

    @ParameterizedTest
    @CsvSource({"bytes=0-9,0,10", "bytes=90-,90,10", "bytes=-5,95,5", "bytes=-500,0,100",
            "bytes=99-1000,99,1"})
    void shouldParseRanges(String header, long first, long count) throws S3Exception {
        assertThat(ByteRange.parse(header, 100)).contains(new ByteRange(first, count));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=5-4", "bytes=-", "bytes=0-1,5-6", "lines=0-1", "bytes=a-b",
            "bytes=9999999999999999999-"})
    void shouldIgnoreOtherRanges(String header) throws S3Exception {
        assertThat(ByteRange.parse(header, 100)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=100-", "bytes=100-200", "bytes=-0"})
    void shouldRefuseRangesBehindEnd(String header) {
        assertThatThrownBy(() -> ByteRange.parse(header, 100))
                .isInstanceOfSatisfying(S3Exception.class,
                        e -> assertThat(e.error()).isEqualTo(S3Error.INVALID_RANGE));
    }

    @Test
    void shouldEvaluateConditions() {
        assertThat(conditions("\"x\", \"e\"", "", -1, -1)).isEqualTo(Conditions.Verdict.HOLD);
        assertThat(conditions("\"x\"", "", -1, -1)).isEqualTo(Conditions.Verdict.FAIL);
        assertThat(conditions("", "*", -1, -1)).isEqualTo(Conditions.Verdict.NOT_MODIFIED);
        assertThat(conditions("", "\"x\"", 5_000, -1)).isEqualTo(Conditions.Verdict.HOLD);
        assertThat(conditions("", "", 5_000, -1)).isEqualTo(Conditions.Verdict.NOT_MODIFIED);
        assertThat(conditions("", "", 4_000, -1)).isEqualTo(Conditions.Verdict.HOLD);
        assertThat(conditions("", "", -1, 4_000)).isEqualTo(Conditions.Verdict.FAIL);
        assertThat(conditions("", "", -1, 5_000)).isEqualTo(Conditions.Verdict.HOLD);
    }

    /** Evaluates for an object with the ETag e, modified at 5.5 s. */
    private static Conditions.Verdict conditions(String match, String noneMatch, long since,
            long unmodified) {
        return new Conditions(Optional.of(match).filter(text -> !text.isEmpty()),
                Optional.of(noneMatch).filter(text -> !text.isEmpty()),
                since < 0 ? OptionalLong.empty() : OptionalLong.of(since),
                unmodified < 0 ? OptionalLong.empty() : OptionalLong.of(unmodified))
                .evaluate("e", 5_500);
    }

    @Test
    void shouldFormatAndParseTimes() {
        assertThat(HttpTime.header(784_111_777_000L)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        assertThat(HttpTime.parse("Sun, 06 Nov 1994 08:49:37 GMT")).hasValue(784_111_777_000L);
        assertThat(HttpTime.document(784_111_777_123L)).isEqualTo("1994-11-06T08:49:37.123Z");
        assertThat(HttpTime.parse("yesterday")).isEmpty();
    }

    @Test
    void shouldParseDocuments() throws S3Exception {
        XmlElement delete = XmlElement.parse(bytes("<?xml version='1.0'?><!-- x --><Delete "
                + "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Quiet>true</Quiet>"
                + "<Object><Key>a&amp;b<![CDATA[<]]></Key></Object></Delete>"), "Delete");
        assertThat(delete.textOf("Quiet")).contains("true");
        assertThat(delete.all("Object")).extracting(each -> each.textOf("Key"))
                .isEqualTo(List.of(Optional.of("a&b<")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no xml", "<Delete>", "<Other/>", "<Delete>&undefined;</Delete>",
            "<!DOCTYPE d [<!ENTITY a 'x'>]><Delete>&a;</Delete>",
            "<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><Delete>&a;</Delete>",
            "<!DOCTYPE d SYSTEM 'http://localhost:1/d.dtd'><Delete/>"})
    void shouldRefuseOtherDocuments(String document) {
        assertThatThrownBy(() -> XmlElement.parse(bytes(document), "Delete"))
                .isInstanceOf(S3Exception.class);
    }

    @Test
    void shouldRefuseDeepAndLongDocuments() {
        assertThatThrownBy(() -> XmlElement.parse(bytes("<Delete>".repeat(100_000)), "Delete"))
                .isInstanceOf(S3Exception.class);
        assertThatThrownBy(() -> XmlElement.parse(
                bytes("<Delete>" + "<O/>".repeat(200_000) + "</Delete>"), "Delete"))
                .isInstanceOf(S3Exception.class);
    }

    @Test
    void shouldEscapeTexts() {
        assertThat(new String(XmlWriter.plain("A").text("B", "<&>\"\u0001ä").toBytes(),
                StandardCharsets.UTF_8)).endsWith("<A><B>&lt;&amp;&gt;&quot;&#x1;ä</B></A>");
    }
}
