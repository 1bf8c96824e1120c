package lunar.block;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProvidingModulesTest {
    @ParameterizedTest
    @CsvSource({"file,lunar-store", "raid10,lunar-raid", "iser,lunar-initiator"})
    void shouldNameModuleOfDevice(String scheme, String artifact) {
        assertThat(ProvidingModules.adviceForDevice(scheme)).hasValue("org.lunar:" + artifact
                + " is missing at run time; add it to the dependencies, and on the module path"
                + " start Java with --add-modules " + artifact.replace('-', '.'));
    }

    @Test
    void shouldNameModuleOfFilter() {
        assertThat(ProvidingModules.adviceForFilter("verify").orElseThrow())
                .startsWith("org.lunar:lunar-filter is missing");
    }

    @Test
    void shouldKnowNoModuleOfOthers() {
        assertThat(ProvidingModules.adviceForDevice("tape")).isEmpty();
        assertThat(ProvidingModules.adviceForFilter("ram")).isEmpty();
    }
}
