package lunar.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceUriTest {
    @Test
    void shouldSplitSchemeRestAndOptions() {
        DeviceUri uri = DeviceUri.parse("FILE:a/b:c.img?size=1GiB&io=direct");
        assertThat(uri.scheme()).isEqualTo("file");
        assertThat(uri.rest()).isEqualTo("a/b:c.img");
        assertThat(uri.options()).isEqualTo(Map.of("size", "1GiB", "io", "direct"));
        assertThat(uri.option("io")).hasValue("direct");
        assertThat(uri.option("none")).isEmpty();
        assertThat(uri.option("none", "other")).isEqualTo("other");
    }

    @Test
    void shouldDecodePercentInValuesAndLeavePlusAlone() {
        assertThat(DeviceUri.parse("x:y?a=%26+%3d").option("a")).hasValue("&+=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "disk.img", ":x", "x:y?", "x:y?a", "x:y?=1", "x:y?a=1&&b=2",
            "x:y?a=%zz"})
    void shouldRejectWhatIsNoUriInOneLine(String text) {
        assertThatThrownBy(() -> DeviceUri.parse(text))
                .isInstanceOf(IllegalArgumentException.class).hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource({"iscsi://me%secret@host/iqn.x/0,iscsi://me@host/iqn.x/0",
            "iscsi://me%se@cr/et@host:3260/iqn.x/0,iscsi://me@host:3260/iqn.x/0",
            "delay=5ms:iscsi://me%secret@host/iqn.x/0,delay=5ms:iscsi://me@host/iqn.x/0",
            "iscsi://me%secret@host/iqn.x/0?password=secret,iscsi://me@host/iqn.x/0",
            "iscsi://me@corp%secret@host/iqn.x/0,iscsi://me@corp@host/iqn.x/0",
            "iscsi://me%secret/iqn.x/0,iscsi://me",
            "iscsi://[fe80::1%eth0]:3260/iqn.x/0,iscsi://[fe80::1%eth0]:3260/iqn.x/0",
            "iscsi://host/iqn.x%3a1/0,iscsi://host/iqn.x%3a1/0",
            "iscsi://host/iqn.x/0,iscsi://host/iqn.x/0", "file:100%@x,file:100%@x"})
    void shouldNotShowSecrets(String text, String shown) {
        assertThat(DeviceUri.parse(text)).hasToString(shown);
    }

    @Test
    void shouldNameAnUnknownOptionAndThoseThereAre() {
        DeviceUri uri = DeviceUri.parse("file:x?sise=1");
        assertThatThrownBy(() -> uri.requireKnownOptions(Set.of("size", "io")))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("'sise'")
                .hasMessageContaining("io, size");
    }

    @Test
    void shouldTakeAnOptionTwiceOnlyWhereItIsAList() {
        DeviceUri uri = DeviceUri.parse("raid1:x?member=a&size=1&member=b");
        assertThat(uri.optionList("member")).containsExactly("a", "b");
        assertThat(uri.optionList("spare")).isEmpty();
        uri.requireKnownOptions(Set.of("member", "size"), Set.of("member"));
        assertThatThrownBy(() -> uri.requireKnownOptions(Set.of("member", "size")))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("'member'")
                .hasMessageContaining("twice");
    }

    @ParameterizedTest
    @ValueSource(strings = {"iscsi://me%se&c ret@host/iqn.x/0?sessions=2&connections=2",
            "raid0:y?member=file:a%2526b&member=c", "100%+&"})
    void shouldHoldAUriAsAValue(String inner) {
        DeviceUri uri = DeviceUri
                .parse("raid1:x?member=" + DeviceUri.encoded(inner) + "&member=ram:1MiB");
        assertThat(uri.optionList("member")).containsExactly(inner, "ram:1MiB");
    }

    @Test
    void shouldNotShowSecretsOfNestedUris() {
        String once = "raid1:x?member=iscsi://me%25secret@host/iqn.x/0?sessions=2%26queue-depth=4"
                + "&member=iscsi%3A%2F%2Fme%25secret%40host%2Fiqn.x%2F1&rebuild-rate=1M";
        assertThat(DeviceUri.withoutSecret(once)).doesNotContain("secret")
                .contains("member=iscsi://me@host/iqn.x/0?sessions=2%26queue-depth=4",
                        "me@host/iqn.x/1", "&rebuild-rate=1M");
        String twice = "raid0:y?member=" + DeviceUri.encoded(once) + "&member=ram:1MiB";
        assertThat(DeviceUri.withoutSecret(twice)).doesNotContain("secret").contains("me@host");
    }
}
