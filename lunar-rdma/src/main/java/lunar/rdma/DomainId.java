package lunar.rdma;

/** Identity of a protection domain, shared by its memory and its endpoints. */
final class DomainId {
    DomainId() {}
}
