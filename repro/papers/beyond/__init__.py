"""What no paper asks for: experiments with the solvers as they are today."""
