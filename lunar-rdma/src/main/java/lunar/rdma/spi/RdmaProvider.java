package lunar.rdma.spi;

import java.util.List;
import lunar.rdma.RdmaUnavailableException;

/** Gives access to the devices of a native library; found by {@link java.util.ServiceLoader}. */
public interface RdmaProvider {
    /** First part of the names of its devices: {@code verbs} or {@code libfabric}. */
    String name();

    /**
     * Lists the devices that are there now; empty if the library works but finds none.
     *
     * @throws RdmaUnavailableException if the library, a symbol of it, or the permission to call it is missing; the
     *         message is one line that names it
     */
    List<ProviderDevice> devices() throws RdmaUnavailableException;
}
