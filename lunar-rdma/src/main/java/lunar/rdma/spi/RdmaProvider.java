package lunar.rdma.spi;

import java.util.List;
import lunar.rdma.RdmaUnavailableException;

/** Gives access to the devices of a native library; found by {@link java.util.ServiceLoader}. */
public interface RdmaProvider {
    /** Returns the first part of the names of its devices, such as {@code verbs} or {@code libfabric}. */
    String name();

    /**
     * Returns the current devices; empty if the library works but finds none.
     *
     * @throws RdmaUnavailableException if the library, a symbol of it, or the permission to call it is missing; the
     *         message names it in one line
     */
    List<ProviderDevice> devices() throws RdmaUnavailableException;
}
