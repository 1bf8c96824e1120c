package lunar.rdma;

/** Identity of a protection domain, which its memory and its endpoints have in common. */
final class DomainId {
    DomainId() {}
}
