#include <agora/agora.h>

#include <iostream>

int main() { std::cout << agora::version() << '\n'; }
