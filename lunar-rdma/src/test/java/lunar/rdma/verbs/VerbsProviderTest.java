package lunar.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.spi.ProviderDevice;
import org.junit.jupiter.api.Test;

class VerbsProviderTest {
    @Test
    void shouldBeListedEvenIfUnavailable() {
        assertThat(Rdma.providers()).extracting("name").contains("verbs");
    }

    @Test
    void shouldListDevicesOrGiveReasonInOneLine() {
        try {
            List<ProviderDevice> devices = new VerbsProvider().devices();
            assertThat(devices).allSatisfy(
                    device -> assertThat(device.info().name()).startsWith("verbs:"));
        } catch (RdmaUnavailableException e) {
            assertThat(e.getMessage().lines()).hasSize(1);
        }
    }
}
