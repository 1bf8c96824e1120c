/** RDMA in pure Java ("Javia"): endpoints, registered memory and completion queues on top of native RDMA libraries. */
module lunar.rdma {
    requires static org.jspecify;

    exports lunar.rdma;
    exports lunar.rdma.message;
    exports lunar.rdma.probe;
    exports lunar.rdma.spi;

    uses lunar.rdma.spi.RdmaProvider;

    provides lunar.rdma.spi.RdmaProvider
            with lunar.rdma.verbs.VerbsProvider, lunar.rdma.libfabric.LibfabricProvider;
}
