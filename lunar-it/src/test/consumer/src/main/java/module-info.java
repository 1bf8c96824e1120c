/** A program that uses Lunar. */
module org.example.storage {
    requires lunar.initiator;
    requires lunar.target;
}
